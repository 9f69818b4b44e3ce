#include "model/feed_forward.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/config.h"

namespace attnscope {
namespace {

torch::Tensor relu(const torch::Tensor& x) {
  return torch::relu(x);
}

// x·Φ(x) (1606.08415)
torch::Tensor gelu(const torch::Tensor& x) {
  return torch::gelu(x);
}

// The tanh approximation that GPT-2 and T5 were trained with; it differs from x·Φ(x) by up to 5e-4.
torch::Tensor gelu_by_tanh(const torch::Tensor& x) {
  return torch::gelu(x, "tanh");
}

// x·σ(x) (1710.05941), also called SiLU
torch::Tensor swish(const torch::Tensor& x) {
  return torch::silu(x);
}

constexpr std::array forms = {
    FeedForwardForm{"relu", Activation::relu, relu, false},
    FeedForwardForm{"gelu", Activation::gelu, gelu, false},
    FeedForwardForm{"gelu-tanh", Activation::none, gelu_by_tanh, false},
    FeedForwardForm{"swish", Activation::none, swish, false},
    FeedForwardForm{"swiglu", Activation::none, swish, true},
    FeedForwardForm{"geglu", Activation::none, gelu_by_tanh, true},
    FeedForwardForm{"geglu-erf", Activation::none, gelu, true},
};

}  // namespace

const FeedForwardForm& feed_forward_form(std::string_view activation) {
  const auto* const found = std::ranges::find(forms, activation, &FeedForwardForm::name);
  if (found == forms.end()) throw ConfigError("unknown activation \"" + std::string(activation) + '"');
  return *found;
}

}  // namespace attnscope
