// From a kernel to attention in steps: ŷ(x) = Σ_h o_h Σ_i softmax_i(score_h(x, x_i)) y_i. Each step changes one part,
// and learns its parameters by gradient descent.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/adam.h"
#include "analysis/kernel_regression.h"
#include "common/matrix.h"

namespace attnscope {

enum class PoolingStep {
  kernel,       // score = −((x − x_i)/h)²/2, h as set; nothing is learned
  width,        // score = −((x − x_i) w)²/2, w learned
  projections,  // score = q·k_i/√d_k with q = W_Q φ(x), k_i = W_K φ(x_i), both learned
  heads,        // several of the previous, mixed by a learned W_O
};

inline constexpr int pooling_width = 2;     // d_k
inline constexpr int pooling_features = 3;  // φ(x) = (1, z, z²) with z = x/2.5 − 1: the input of a projection
inline constexpr int pooling_heads = 3;     // of the last step

// All learned parameters of a step, concatenated: w; or for every head W_Q and W_K (d_k × features each, row by row),
// then, with several heads, W_O.
struct LearnedPooling {
  PoolingStep step = PoolingStep::kernel;
  double kernel_width = 1;  // h of the first step
  std::vector<double> parameters;

  int heads() const { return step == PoolingStep::heads ? pooling_heads : 1; }
};

// The initialization: close to the Gaussian kernel of that width, from which the projections are derived. Heads are
// initialized with different widths and a little noise; otherwise they would stay equal.
LearnedPooling first_pooling(PoolingStep step, double kernel_width, std::uint64_t seed);

// W_Q or W_K of a head, d_k × features numbers; only for steps that have them.
std::span<const double> projection(const LearnedPooling& pooling, int head, bool of_keys);
// W_O; 1 for a single head.
std::vector<double> head_mix(const LearnedPooling& pooling);

// q or k.
std::array<double, pooling_width> projected(const LearnedPooling& pooling, int head, bool of_keys, double x);

// score_h(x, x_i).
double pooling_score(const LearnedPooling& pooling, int head, double x, double key);

// queries × keys; every row sums to 1. Empty without keys.
Matrix pooling_weights(const LearnedPooling& pooling, int head, std::span<const double> queries,
                       std::span<const double> keys);

// NaN without keys.
std::vector<double> pooling_estimates(const LearnedPooling& pooling, std::span<const double> queries,
                                      const KeyedValues& known);

// Mean over all keys of (ŷ(x_i) from the other pairs − y_i)². If a pair were included, the width would shrink until
// every key attends only to itself. `gradient`, if given, gets ∂/∂parameters. NaN with fewer than two keys.
double pooling_loss(const LearnedPooling& pooling, const KeyedValues& known, std::vector<double>* gradient = nullptr);

// Gradient descent with Adam, like the models here.
class PoolingDescent {
 public:
  // Performs one step; returns the loss before it. Changes nothing if that is NaN.
  double update(LearnedPooling& pooling, const KeyedValues& known, double learning_rate);

 private:
  Adam adam_;
};

}  // namespace attnscope
