// Whether an operator runs fused or composed of ATen's.
#pragma once

#include "kernels/libtorch.h"

namespace attnscope::kernels {

// While it lives, this thread's operators are composed: the reference that reads like the formula.
class Composed {
 public:
  Composed();
  ~Composed();
  Composed(const Composed&) = delete;
  Composed& operator=(const Composed&) = delete;
};

// Whether this thread composes.
bool composes();

// True for float32 on the CPU, unless this thread composes.
bool is_fused(const torch::Tensor& x);

}  // namespace attnscope::kernels
