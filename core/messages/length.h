// Model quality by input length, including lengths beyond training.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "messages/evaluation.h"

namespace attnscope {

struct LengthQuestion {
  std::int64_t pairs_a_length = 40;  // maximum pairs per length
  bool operator==(const LengthQuestion&) const = default;
};

// Results on held-out pairs with that source length; for running text, on tokens at that position of their window.
struct LengthPoint {
  std::int64_t length = 0;  // words of the source, or tokens up to and including this one
  std::int64_t pairs = 0;   // of a drawn corpus: tokens that follow from those before them
  std::int64_t exact = 0;   // translations equal to the reference in every word, or tokens predicted
  NegativeLogLikelihood nll;

  double exact_share() const { return pairs == 0 ? 0 : static_cast<double>(exact) / static_cast<double>(pairs); }
};

struct LengthResult {
  LengthQuestion question;
  std::string model;                // "Transformer, sinusoidal", to distinguish it from other runs
  bool text = false;                // running text: no pairs
  std::int64_t trained = 0;         // maximum length in training
  std::vector<LengthPoint> points;  // shortest first
  std::string problem = {};         // why there is no result, or none beyond `trained`, in one sentence
};

}  // namespace attnscope
