// Sampling of the next token: temperature, then top-k, then top-p. Plain numbers, so that the window can compute them
// too.
#pragma once

#include <random>
#include <span>
#include <vector>

#include "messages/sampling_options.h"

namespace attnscope {

// Throws ConfigError naming the option, its value and the allowed values.
void check(const SamplingOptions& options);

// Both sum to 1.
struct NextProbabilities {
  std::vector<double> before;  // softmax(logits / temperature)
  std::vector<double> after;   // renormalized after top-k and top-p; exactly 0 for removed tokens
};

// Ties in probability are broken by the smaller id, so top-k never retains more than k tokens. A token with logit −∞ is
// never drawn. Throws std::domain_error if a logit is +∞ or NaN, or all are −∞.
NextProbabilities next_probabilities(std::span<const float> logits, const SamplingOptions& options);

// Draws the same tokens from the same seed on every machine and with every LibTorch. Each draw takes one number of
// std::mt19937_64, u = (its upper 53 bits) / 2^53. It returns the first token by id with p(0) + … + p(id) > u.
class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options);  // validates them

  int draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 random_;
};

}  // namespace attnscope
