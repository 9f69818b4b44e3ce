#include "engine/device.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "model/kernels/processor.h"
#include "model/kernels/product.h"
#include "model/kernels/thread_pool.h"

namespace attnscope {
namespace {

int processes_here = 1;

// The CPU time that cgroups (version 2, or 1) grant to this process and its parents, in cores; 0: unlimited.
double cgroup_cores() {
  double cores = 0;
  const auto limit = [&](double quota, double period) {
    if (quota > 0 && period > 0) cores = cores > 0 ? std::min(cores, quota / period) : quota / period;
  };
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    const bool second = line.starts_with("0::");
    if (!second && line.find(":cpu") == std::string::npos && line.find(",cpu") == std::string::npos) continue;
    const std::filesystem::path root = second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu";
    std::filesystem::path group = root / std::filesystem::path(line.substr(line.rfind(':') + 1)).relative_path();
    for (;; group = group.parent_path()) {
      double quota = 0, period = 0;
      if (second) std::ifstream(group / "cpu.max") >> quota >> period;  // "max 100000": no number, no limit
      if (!second) std::ifstream(group / "cpu.cfs_quota_us") >> quota;
      if (!second) std::ifstream(group / "cpu.cfs_period_us") >> period;
      limit(quota, period);
      if (group == root || !group.has_relative_path()) break;
    }
  }
  return cores;
}

}  // namespace

std::int64_t usable_cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const bool known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
  std::int64_t cores = known ? CPU_COUNT(&allowed) : static_cast<std::int64_t>(std::thread::hardware_concurrency());
  if (const double granted = cgroup_cores(); granted > 0)
    cores = std::min(cores, static_cast<std::int64_t>(std::ceil(granted)));
  const char* const wanted = std::getenv("OMP_NUM_THREADS");
  if (const std::int64_t threads = wanted ? std::atoll(wanted) : 0; threads > 0) cores = std::min(cores, threads);
  return std::max<std::int64_t>(1, cores);
}

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
  const std::int64_t threads = training.threads > 0 ? training.threads : usable_cores() / processes_here;
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
