// Residual connections and layer norms (Vaswani et al. 2017 §3.1, 5.4).
#pragma once

#include <torch/torch.h>

namespace attnscope::kernels {

// x + dropout(added), …×D
torch::Tensor add_dropped(const torch::Tensor& x, const torch::Tensor& added, double dropout);

// LayerNorm over the last dimension, with gain and bias (D each).
torch::Tensor layer_norm(const torch::Tensor& x, const torch::nn::LayerNorm& norm);

// LayerNorm(x + dropout(added))
torch::Tensor add_and_norm(const torch::Tensor& x, const torch::Tensor& added, const torch::nn::LayerNorm& norm,
                           double dropout);

}  // namespace attnscope::kernels
