// Layers that keep nothing but their input: training.recompute.
#pragma once

#include <functional>

#include "kernels/libtorch.h"

namespace attnscope {

// What a layer's output depends on besides its own parameters; undefined where there is none.
struct LayerInput {
  torch::Tensor x, memory, bias;
};

// layer(input), of which only `input` is kept: the backward pass runs `layer` once more, with the same dropout and in
// the same precision, and goes back through that (gradient checkpointing, Chen et al. 2016, arXiv 1604.06174). `layer`
// is called on the threads of both passes and must give the same each time; x must need a gradient.
torch::Tensor recomputed(const LayerInput& input, std::function<torch::Tensor(const LayerInput&)> layer);

}  // namespace attnscope
