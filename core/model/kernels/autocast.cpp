#include "model/kernels/autocast.h"

#include <ATen/autocast_mode.h>
#include <torch/version.h>

namespace attnscope::kernels {
namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
void switch_on(torch::DeviceType device, bool on) {
  at::autocast::set_autocast_dtype(device, torch::kBFloat16);
  at::autocast::set_autocast_enabled(device, on);
}
#else
void switch_on(torch::DeviceType device, bool on) {
  if (device == torch::kCPU) {
    at::autocast::set_autocast_cpu_dtype(torch::kBFloat16);
    at::autocast::set_cpu_enabled(on);
    return;
  }
  at::autocast::set_autocast_gpu_dtype(torch::kBFloat16);
  at::autocast::set_enabled(on);
}
#endif

}  // namespace

void autocast_to_bfloat16(torch::DeviceType device, bool on) {
  switch_on(device, on);
  // A cached weight that was cast without gradients would be reused where gradients are needed, and lose its own.
  at::autocast::set_autocast_cache_enabled(!on);
}

}  // namespace attnscope::kernels
