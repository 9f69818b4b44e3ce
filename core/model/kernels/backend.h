// Chooses between fused operators and operators composed of ATen's.
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// While it lives, this thread uses composed operators: the reference implementation that follows the formulas.
class Composed {
 public:
  Composed();
  ~Composed();
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;
};

// True while this thread uses composed operators.
bool composes();

// True for float32 on the CPU, unless this thread uses composed operators.
bool is_fused(const torch::Tensor& x);

}  // namespace attnscope::kernels
