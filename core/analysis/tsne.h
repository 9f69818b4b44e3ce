// Exact t-SNE (van der Maaten & Hinton 2008): points in the plane that preserve the vectors' neighborhoods.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/matrix.h"

namespace attnscope {

struct TsneOptions {
  double perplexity = 30;  // effective number of neighbors; at most a third of the points
  int iterations = 1000;   // of gradient descent
  int exaggerated = 250;   // initial iterations with p multiplied by `exaggeration`
  double exaggeration = 12;
  std::uint64_t seed = 1;  // of the initial points
  bool operator==(const TsneOptions&) const = default;
};

// Called with 0…1 between iterations; may throw to cancel.
using TsneProgress = std::function<void(double fraction)>;

// The similarities of N vectors: p_ij = (p_j|i + p_i|j) / 2N with Gaussians around every vector whose width gives the
// perplexity; N×N, symmetric, sums to 1, zero on the diagonal. Takes N² D operations. All vectors must be finite.
Matrix tsne_affinities(const Matrix& vectors, double perplexity, const TsneProgress& progress = {});

// The largest useful perplexity for this number of points.
double largest_perplexity(int points);

struct TsneGradient {
  Matrix forces;  // dKL/dy, N×2
  double kl = 0;  // KL(P‖Q) in nats, with p as given
};

// q_ij ∝ 1 / (1 + ‖y_i − y_j‖²); 4 Σ_j (p_ij − q_ij)(y_i − y_j) / (1 + ‖y_i − y_j‖²). `exaggeration` multiplies `p`
// only in the forces.
TsneGradient tsne_gradient(const Matrix& affinities, const Matrix& points, double exaggeration = 1);

struct TsneResult {
  Matrix points;          // N×2, centered
  std::vector<float> kl;  // every 20 iterations from the first, and at the end
};

// Fewer than four vectors keep their initial points.
TsneResult tsne(const Matrix& vectors, const TsneOptions& options, const TsneProgress& progress = {});

}  // namespace attnscope
