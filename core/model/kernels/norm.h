// Residual connections and layer norms (Vaswani et al. 2017 §3.1, 5.4).
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// x + dropout(added), …×D
torch::Tensor add_dropped(const torch::Tensor& x, const torch::Tensor& added, double dropout);

// Learned parameters of a LayerNorm, D each, and the ε added to the variance.
struct NormParameters {
  torch::Tensor gain, bias;
  double epsilon = 1e-5;
};

// LayerNorm over the last dimension.
torch::Tensor layer_norm(const torch::Tensor& x, const NormParameters& norm);

// LayerNorm(x + dropout(added))
torch::Tensor add_and_norm(const torch::Tensor& x, const torch::Tensor& added, const NormParameters& norm,
                           double dropout);

// x / √(mean of x² over the last dimension + epsilon) · gain (1910.07467); composed.
torch::Tensor rms_norm(const torch::Tensor& x, const torch::Tensor& gain, double epsilon);

}  // namespace attnscope::kernels
