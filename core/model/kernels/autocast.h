// LibTorch's autocast to bfloat16; its interface changed in version 2.4.
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// Applies to this thread's operators on the device.
void autocast_to_bfloat16(torch::DeviceType device, bool on);

}  // namespace attnscope::kernels
