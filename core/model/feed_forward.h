// The activation of a feed-forward sublayer: one table row per choice of model.activation.
#pragma once

#include <string_view>

#include "model/kernels/libtorch.h"
#include "model/kernels/linear.h"

namespace attnscope {

// Code that implements activations again, such as an exporter, switches over this, so a new one does not compile there
// until it is added.
enum class ActivationFunction { relu, gelu, gelu_tanh, swish };

// FFN(x) = f(xW₁ + b₁)W₂ + b₂ (Vaswani et al. 2017 §3.3); gated: (f(xW₁ + b₁) ⊙ (xV + c))W₂ + b₂ (2002.05202 §2).
struct FeedForwardForm {
  std::string_view name;
  ActivationFunction function;  // f
  Activation fused;             // f as part of the preceding product; none: `activate` follows it
  bool gated;
};

// f(x), of x's shape.
torch::Tensor activate(ActivationFunction function, const torch::Tensor& x);

// Throws ConfigError if the name is unknown.
const FeedForwardForm& feed_forward_form(std::string_view activation);

}  // namespace attnscope
