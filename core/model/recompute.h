// Gradient checkpointing: layers that save only their input (training.recompute).
#pragma once

#include <functional>

#include "model/kernels/libtorch.h"

namespace attnscope {

// The inputs of a layer other than its own parameters; undefined if absent.
struct LayerInput {
  torch::Tensor x, memory, bias;
};

// Runs layer(input) and saves only `input`. The backward pass runs `layer` again with the same dropout and precision
// and backpropagates through that (gradient checkpointing, Chen et al. 2016, arXiv 1604.06174). `layer` is called on
// the threads of both passes and must be deterministic; x must require a gradient.
torch::Tensor recomputed(const LayerInput& input, std::function<torch::Tensor(const LayerInput&)> layer);

}  // namespace attnscope
