// The loss in quality without each head (Michel et al. 2019, arXiv 1905.10650).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/heads.h"

namespace attnscope {

struct HeadsQuestion {
  bool operator==(const HeadsQuestion&) const = default;
};

struct HeadImportance {
  HeadPlace place;
  double exact = 0;  // increase of the validation loss with only this head ablated, nats/token
  double fast = 0;  // E|∂L/∂ξ| of a mask ξ = 1 on its output, nats/sentence, from one pass with gradients (§2.2)
  // Of a decoder-only model: mean attention weight of the later tokens on the first one.
  double first = 0;
};

// The heads ablated cumulatively, the least important first.
struct PruningPoint {
  int heads_left = 0;
  double nll = 0;   // nats/token
  HeadPlace off{};  // the head ablated last; unset for the first point
};

struct HeadsResult {
  std::string problem = {};  // why there is none, in one sentence
  std::int64_t tokens = 0;   // predicted tokens of the validation part
  double nll = 0;            // nats/token, with all heads
  // Of a decoder-only model: nats/token if only the first token attends to the first token (arXiv 2309.17453).
  std::optional<double> first_masked_nll = {};
  std::vector<HeadImportance> heads = {};  // by attention, layer, head
  std::vector<PruningPoint> pruning = {};  // from all heads to none
};

struct HeadsHistoryQuestion {
  bool operator==(const HeadsHistoryQuestion&) const = default;
};

struct HeadsPoint {
  std::int64_t step = 0;
  HeadsResult inspection;  // on a few batches, without the fast estimate
};

struct HeadsHistory {
  std::string problem = {};
  std::vector<HeadsPoint> points = {};  // ascending; the last with the present weights
};

}  // namespace attnscope
