// x Wᵀ + b with fused activation and dropout.
#pragma once

#include "model/kernels/libtorch.h"
#include "model/kernels/simd/loops.h"

namespace attnscope::kernels {

// Rows first ≤ row < last of a weight matrix and its bias: one of several projections that share a matrix.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  // −1: to the end
};

// dropout(activation(x Wᵀ + b)): x …×I, weight O×I, bias O or undefined → …×O.
torch::Tensor linear(const torch::Tensor& x, const torch::Tensor& weight, const torch::Tensor& bias, RowRange rows = {},
                     Activation activation = Activation::none, double dropout = 0);

}  // namespace attnscope::kernels
