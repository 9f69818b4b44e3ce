#pragma once

#include <cstdint>

namespace attnscope {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the most probable token
  std::int64_t top_k = 0;  // only the k most probable tokens; 0, or more than the vocabulary: all
  double top_p = 1;        // nucleus (1904.09751 §3.1): the smallest set of tokens with this total probability; 1: all
  std::int64_t seed = 1;
  bool operator==(const SamplingOptions&) const = default;
};

}  // namespace attnscope
