// t-SNE, exact (van der Maaten & Hinton 2008): points in the plane whose neighbours are those of the vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "plain/matrix.h"

namespace attnscope {

struct TsneOptions {
  double perplexity = 30;  // as many neighbours count, about; at most a third of the points
  int iterations = 1000;   // of gradient descent
  int exaggerated = 250;   // of them, the first, with p larger by `exaggeration`
  double exaggeration = 12;
  std::uint64_t seed = 1;  // of where the points begin
  bool operator==(const TsneOptions&) const = default;
};

// Called with 0…1 between iterations; may throw to give up.
using TsneProgress = std::function<void(double fraction)>;

// How alike N vectors are: p_ij = (p_j|i + p_i|j) / 2N with Gaussians around every vector whose width gives the
// perplexity; N×N, symmetric, sums to 1, zero on the diagonal. Takes N² D operations. All vectors are numbers.
Matrix tsne_affinities(const Matrix& vectors, double perplexity, const TsneProgress& progress = {});

// Largest perplexity that makes sense of so many points.
double largest_perplexity(int points);

struct TsneGradient {
  Matrix forces;  // dKL/dy, N×2
  double kl = 0;  // KL(P‖Q) in nats, with p as it is given
};

// q_ij ∝ 1 / (1 + ‖y_i − y_j‖²); 4 Σ_j (p_ij − q_ij)(y_i − y_j) / (1 + ‖y_i − y_j‖²). `p` is multiplied by
// `exaggeration` in the forces only.
TsneGradient tsne_gradient(const Matrix& affinities, const Matrix& points, double exaggeration = 1);

struct TsneResult {
  Matrix points;          // N×2, centred
  std::vector<float> kl;  // every 20 iterations from the first on, and at the end
};

// Fewer than four vectors stay where they begin.
TsneResult tsne(const Matrix& vectors, const TsneOptions& options, const TsneProgress& progress = {});

}  // namespace attnscope
