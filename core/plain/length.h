// How well a model does by the length of what it is given, also beyond what it was trained on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plain/evaluation.h"

namespace attnscope {

struct LengthQuestion {
  std::int64_t pairs_a_length = 40;  // at most
  bool operator==(const LengthQuestion&) const = default;
};

// Of the held-out pairs with a source so long; of running text, of the pieces so far into their window.
struct LengthPoint {
  std::int64_t length = 0;  // words of the source, or pieces before and with this one
  std::int64_t pairs = 0;
  std::int64_t exact = 0;  // translations equal to the reference, word for word
  NegativeLogLikelihood nll;

  double exact_share() const { return pairs == 0 ? 0 : static_cast<double>(exact) / static_cast<double>(pairs); }
};

struct LengthResult {
  LengthQuestion question;
  std::string model;                // "Transformer, sinusoidal", to be told from other runs
  bool text = false;                // of running text: no pairs and nothing exact
  std::int64_t trained = 0;         // the longest that training saw
  std::vector<LengthPoint> points;  // shortest first
  std::string problem = {};         // why there is nothing, or nothing beyond `trained`, in one sentence
};

}  // namespace attnscope
