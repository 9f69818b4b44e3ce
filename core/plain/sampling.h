// Drawing the next piece: temperature, then top-k, then top-p. Plain numbers, so that the window can draw them too.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace attnscope {

struct SamplingOptions {
  double temperature = 1;  // logits are divided by it; 0: always the most probable piece
  std::int64_t top_k = 0;  // only so many most probable pieces; 0, or more than there are: all
  double top_p = 1;        // nucleus (1904.09751 §3.1): only the fewest pieces that are so probable together; 1: all
  std::int64_t seed = 1;
  bool operator==(const SamplingOptions&) const = default;
};

// Throws ConfigError that names the option, its value and what is allowed.
void check(const SamplingOptions& options);

// Both sum to 1.
struct NextProbabilities {
  std::vector<double> before;  // softmax(logits / temperature)
  std::vector<double> after;   // of the pieces that top-k and then top-p left, renormalised; exactly 0 for all others
};

// Among equally probable pieces the one with the smaller id counts as the more probable: a cut never keeps more pieces
// than it says. A piece with logit −∞ is never drawn; throws std::domain_error when a logit is +∞ or not a number, or
// all are −∞.
NextProbabilities next_probabilities(std::span<const float> logits, const SamplingOptions& options);

// The same draws from the same seed on every machine and with every LibTorch: std::mt19937_64, of which each draw takes
// one number u = (its upper 53 bits) / 2^53, and the first piece, in order of id, with p(0) + … + p(id) > u.
class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options);  // checks them

  int draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 random_;
};

}  // namespace attnscope
