// What a model loses without each of its heads (Michel et al. 2019, arXiv 1905.10650).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plain/heads.h"

namespace attnscope {

struct HeadsQuestion {
  bool operator==(const HeadsQuestion&) const = default;
};

struct HeadImportance {
  HeadPlace place;
  double exact = 0;  // nats/token that the validation part costs more with this head alone switched off
  double fast = 0;  // E|∂L/∂ξ| of a mask ξ = 1 on its output, nats/sentence, from one pass with gradients (§2.2)
};

// The heads switched off one after another, the least important first.
struct PruningPoint {
  int heads_left = 0;
  double nll = 0;   // nats/token
  HeadPlace off{};  // the one that was switched off last; of the first point none
};

struct HeadsResult {
  std::string problem = {};                // why there is none, in one sentence
  std::int64_t tokens = 0;                 // that were predicted, of the validation part
  double nll = 0;                          // nats/token, with all heads
  std::vector<HeadImportance> heads = {};  // by attention, layer, head
  std::vector<PruningPoint> pruning = {};  // from all heads to none
};

struct HeadsHistoryQuestion {
  bool operator==(const HeadsHistoryQuestion&) const = default;
};

struct HeadsPoint {
  std::int64_t step = 0;
  HeadsResult inspection;  // of a few batches, without the fast estimate
};

struct HeadsHistory {
  std::string problem = {};
  std::vector<HeadsPoint> points = {};  // ascending; the last of the present weights
};

// The rank correlation (Spearman) of `exact` and `fast` over the heads, −1 … 1; 0 of fewer than two.
double agreement(const HeadsResult& inspection);

}  // namespace attnscope
