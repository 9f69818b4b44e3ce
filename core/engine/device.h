// What of this machine the engine computes on.
#pragma once

#include <string>

#include "kernels/libtorch.h"
#include "plain/config.h"

namespace attnscope {

bool has_device(const std::string& name);

// training.device as LibTorch has it. Throws ConfigError when it is cuda and there is none.
torch::Device resolve_device(const std::string& name);

// So many processes train here together from now on, and where training.threads is 0 each takes its share of the cores.
void share_cores(int processes);

// The team's threads from here on. LibTorch itself computes on one: the team shares out whole parts of a batch.
void set_threads(const TrainingConfig& training);

// "CPU, 2 threads", "CUDA"
std::string device_text(torch::Device device);

// "loops for AVX2, products by oneDNN and BLAS": what computes on the CPU; see kernels/processor.h.
std::string processor_text();

// Debian's reference BLAS is some thirty times slower than OpenBLAS, and is called through the same libblas.so.3.
bool uses_reference_blas();

}  // namespace attnscope
