// The activation of a feed-forward sublayer: one table row per choice of model.activation.
#pragma once

#include <string_view>

#include "model/kernels/libtorch.h"
#include "model/kernels/linear.h"

namespace attnscope {

// FFN(x) = f(xW₁ + b₁)W₂ + b₂ (Vaswani et al. 2017 §3.3); gated: (f(xW₁ + b₁) ⊙ (xV + c))W₂ + b₂ (2002.05202 §2).
struct FeedForwardForm {
  std::string_view name;
  Activation fused;                                 // f, fused into the preceding product; none: `activate` is f
  torch::Tensor (*activate)(const torch::Tensor&);  // keeps the shape
  bool gated;
};

// Throws ConfigError if the name is unknown.
const FeedForwardForm& feed_forward_form(std::string_view activation);

}  // namespace attnscope
