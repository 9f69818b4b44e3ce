// What of this machine the engine computes on.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "plain/config.h"

namespace attnscope {

// What of this machine's cores the engine may take.
struct Cores {
  std::int64_t spare = 0;  // left alone when the configuration asks for all: the window needs one under software GL
};

// training.device as LibTorch has it. Throws ConfigError when it is cuda and there is none.
torch::Device resolve_device(const std::string& name);

// The team's threads from here on. LibTorch itself computes on one: the team shares out whole parts of a batch.
void set_threads(const TrainingConfig& training, Cores cores);

// "CPU, 2 threads", "CUDA"
std::string device_text(torch::Device device);

// Debian's reference BLAS is some thirty times slower than OpenBLAS, and is called through the same libblas.so.3.
bool uses_reference_blas();

}  // namespace attnscope
