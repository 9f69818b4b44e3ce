// What stands between the matrices of a feed-forward sublayer: one row a choice of model.activation.
#pragma once

#include <string_view>

#include "kernels/libtorch.h"
#include "kernels/linear.h"

namespace attnscope {

// FFN(x) = f(xW₁ + b₁)W₂ + b₂ (Vaswani et al. 2017 §3.3); gated: (f(xW₁ + b₁) ⊙ (xV + c))W₂ + b₂ (2002.05202 §2).
struct FeedForwardForm {
  std::string_view name;
  Activation fused;                                 // f as part of the product before it; none: `activate` is f
  torch::Tensor (*activate)(const torch::Tensor&);  // of the same shape
  bool gated;
};

// Throws ConfigError if nothing is called so.
const FeedForwardForm& feed_forward_form(std::string_view activation);

}  // namespace attnscope
