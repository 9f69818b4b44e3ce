// In what numbers a thread's products of matrices are computed: training.precision.
#pragma once

#include "kernels/libtorch.h"

namespace attnscope::kernels {

enum class Precision { float32, bfloat16 };

// Of this thread: float32 unless a scope says otherwise.
Precision precision();

// While it lives, this thread's products take their matrices rounded to bfloat16 and sum in float32. Fused operators
// (see backend.h) do so by multiply() alone, forward and backward, and everything between stays float32; composed ones
// by LibTorch's autocast on their device, whose backward passes follow by themselves.
class PrecisionScope {
 public:
  PrecisionScope(Precision precision, torch::Device device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  Precision before_;
  torch::DeviceType device_;
};

}  // namespace attnscope::kernels
