// The reason for dividing scores by √d_k (Vaswani et al. 2017 §3.2.1, footnote 4). For q, k ~ N(0, I_d) the product q·k
// has variance d. The softmax of such scores concentrates on one key, and gradients vanish.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

// Means over the softmax of many rows of scores.
struct SoftmaxSpread {
  double entropy = 0;   // −Σ p ln p, in nats
  double jacobian = 0;  // Frobenius norm of ∂p/∂s = diag(p) − ppᵀ: 0 if gradients vanish
  double largest = 0;   // the largest weight
};

// For one row of weights: √(Σp² − 2Σp³ + (Σp²)²).
double jacobian_norm(std::span<const float> weights);

struct ScaledScores {
  int d = 1;
  Matrix products;      // queries × keys: q·k
  Matrix plain;         // softmax(q·k) of every row
  Matrix divided;       // softmax(q·k/√d)
  double mean = 0;      // of the products
  double variance = 0;  // of the products
  SoftmaxSpread of_plain, of_divided;
};

// Random queries and keys of at most `most_dimensions`, of which the first d are used, so that products vary smoothly
// with d.
class ScoreSample {
 public:
  static constexpr int most_dimensions = 512;

  // Chooses the number of queries, 32 to 256, for about 4096 products with any number of keys.
  ScoreSample(int keys, std::uint64_t seed);

  // 1 ≤ d ≤ most_dimensions
  ScaledScores scores(int d) const;

  int queries() const { return q_.rows; }
  int keys() const { return k_.rows; }

 private:
  Matrix q_, k_;  // queries × most_dimensions, keys × most_dimensions
};

// The variance of the products of all queries (rows) with all keys.
double product_variance(const Matrix& q, const Matrix& k);

// Density of N(0, variance) at x.
double normal_density(double x, double variance);

}  // namespace attnscope
