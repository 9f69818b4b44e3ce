#include "model/initial_values.h"

namespace attnscope {

torch::nn::Linear xavier_linear(std::int64_t in, std::int64_t out, bool bias) {
  if (WithoutInitialValues::in_force()) {
    // torch::nn::Linear always initializes its parameters: the smallest layer makes this cheap.
    torch::nn::Linear linear(torch::nn::LinearOptions(1, 1).bias(bias));
    linear->options.in_features(in).out_features(out);
    linear->weight.set_data(torch::empty({out, in}));
    if (bias) linear->bias.set_data(torch::empty({out}));
    return linear;
  }
  torch::nn::Linear linear(torch::nn::LinearOptions(in, out).bias(bias));
  torch::nn::init::xavier_uniform_(linear->weight);
  if (bias) torch::nn::init::zeros_(linear->bias);
  return linear;
}

}  // namespace attnscope
