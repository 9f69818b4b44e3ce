// The device and threads that the engine computes on.
#pragma once

#include <string>

#include "config/config.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

bool has_device(const std::string& name);

// Converts training.device to LibTorch's type. Throws ConfigError if it is cuda and there is none.
torch::Device resolve_device(const std::string& name);

// Sets how many processes train together on this machine; if training.threads is 0, each uses its share of the cores.
void share_cores(int processes);

// The cores that this process may use: CPU affinity, the quota of its cgroup, and OMP_NUM_THREADS limit them.
std::int64_t usable_cores();

// Sets the size of the thread pool. LibTorch itself computes on one thread: the pool distributes whole parts of a
// batch.
void set_threads(const TrainingConfig& training);

// "CPU, 2 threads", "CUDA"
std::string device_text(torch::Device device);

// "loops for AVX2, products by oneDNN and BLAS": the CPU code in use; see model/kernels/processor.h.
std::string processor_text();

// Debian's reference BLAS is about thirty times slower than OpenBLAS, and has the same file name libblas.so.3.
bool uses_reference_blas();

}  // namespace attnscope
