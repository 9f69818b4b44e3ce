#include "model/feed_forward.h"

#include <algorithm>
#include <array>
#include <string>

#include "config/config.h"

namespace attnscope {
namespace {

constexpr std::array forms = {
    FeedForwardForm{"relu", ActivationFunction::relu, Activation::relu, false},
    FeedForwardForm{"gelu", ActivationFunction::gelu, Activation::gelu, false},
    FeedForwardForm{"gelu-tanh", ActivationFunction::gelu_tanh, Activation::none, false},
    FeedForwardForm{"swish", ActivationFunction::swish, Activation::none, false},
    FeedForwardForm{"swiglu", ActivationFunction::swish, Activation::none, true},
    FeedForwardForm{"geglu", ActivationFunction::gelu_tanh, Activation::none, true},
    FeedForwardForm{"geglu-erf", ActivationFunction::gelu, Activation::none, true},
};

}  // namespace

torch::Tensor activate(ActivationFunction function, const torch::Tensor& x) {
  switch (function) {
    case ActivationFunction::relu:
      return torch::relu(x);
    case ActivationFunction::gelu:  // x·Φ(x) (1606.08415)
      return torch::gelu(x);
    case ActivationFunction::gelu_tanh:  // approximates Φ, as GPT-2 and T5 were trained; differs by up to 5e-4
      return torch::gelu(x, "tanh");
    case ActivationFunction::swish:  // x·σ(x) (1710.05941), also called SiLU
      return torch::silu(x);
  }
  return {};
}

const FeedForwardForm& feed_forward_form(std::string_view activation) {
  const auto* const found = std::ranges::find(forms, activation, &FeedForwardForm::name);
  if (found == forms.end()) throw ConfigError("unknown activation \"" + std::string(activation) + '"');
  return *found;
}

}  // namespace attnscope
