#include "engine/device.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "model/kernels/processor.h"
#include "model/kernels/product.h"
#include "model/kernels/thread_pool.h"

namespace attnscope {
namespace {

int processes_here = 1;

}  // namespace

void share_cores(int processes) {
  processes_here = processes;
}

bool has_device(const std::string& name) {
  return name != "cuda" || torch::cuda::is_available();
}

torch::Device resolve_device(const std::string& name) {
  if (name == "cpu") return torch::kCPU;
  if (torch::cuda::is_available()) return torch::Device(torch::kCUDA, 0);
  if (!has_device(name)) {
    throw ConfigError(
        "training.device is cuda, but there is no GPU: this LibTorch has no CUDA or finds no GPU; use auto or cpu");
  }
  return torch::kCPU;
}

void set_threads(const TrainingConfig& training) {
  const auto all = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  const std::int64_t threads = training.threads > 0 ? training.threads : all / processes_here;
  at::set_num_threads(1);
  kernels::set_pool_size(static_cast<int>(std::max<std::int64_t>(1, threads)));
}

std::string device_text(torch::Device device) {
  if (device.is_cuda()) return "CUDA";
  const int threads = kernels::pool()->size();
  return fmt::format("CPU, {} thread{}", threads, threads == 1 ? "" : "s");
}

std::string processor_text() {
  return fmt::format("vector loops with {}, matrix products with {}", kernels::level_text(kernels::level()),
                     kernels::product_library());
}

bool uses_reference_blas() {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    if (line.find("/blas/libblas.so") != std::string::npos) return true;
  }
  return false;
}

}  // namespace attnscope
