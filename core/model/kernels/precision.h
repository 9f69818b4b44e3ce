// The precision of a thread's matrix products: training.precision.
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

enum class Precision { float32, bfloat16 };

// This thread's precision: float32 unless a scope sets another.
Precision precision();

// While it lives, this thread's products round their matrices to bfloat16 and sum in float32. Fused operators (see
// backend.h) use it only in multiply(), forward and backward, and everything else stays float32. Composed operators use
// LibTorch's autocast on their device, which also covers their backward passes.
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
