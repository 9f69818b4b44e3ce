// LibTorch's autocast to bfloat16, whose interface changed with its version 2.4.
#pragma once

#include "kernels/libtorch.h"

namespace attnscope::kernels {

// For this thread's operators on the device.
void autocast_to_bfloat16(torch::DeviceType device, bool on);

}  // namespace attnscope::kernels
