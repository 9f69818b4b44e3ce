// Sampling of the next token: temperature, then top-k, then top-p. Plain numbers, so that the window can compute them
// too.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace attnscope {

struct SamplingOptions {
  double temperature = 1;  // divides the logits; 0: always the most probable token
  std::int64_t top_k = 0;  // only the k most probable tokens; 0, or more than the vocabulary: all
  double top_p = 1;        // nucleus (1904.09751 §3.1): the smallest set of tokens with this total probability; 1: all
  std::int64_t seed = 1;
  bool operator==(const SamplingOptions&) const = default;
};

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
