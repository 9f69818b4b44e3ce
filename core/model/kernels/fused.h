// Shared helpers of the fused operators.
#pragma once

#include "model/kernels/backend.h"
#include "model/kernels/dropout.h"
#include "model/kernels/libtorch.h"
#include "model/kernels/processor.h"

namespace attnscope::kernels {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// An autograd Function accepts no undefined tensor, so an empty one represents it.
inline torch::Tensor or_empty(const torch::Tensor& tensor) {
  static const torch::Tensor empty = torch::empty({0});
  return tensor.defined() ? tensor : empty;
}

inline bool is_there(const torch::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0;
}

// Null for an undefined tensor.
inline float* data(const torch::Tensor& tensor) {
  return is_there(tensor) ? tensor.data_ptr<float>() : nullptr;
}

// The number of rows of a …×D tensor.
inline std::int64_t num_rows(const torch::Tensor& x) {
  return x.numel() / x.size(-1);
}

// The transposed matrix, with rows `stride` floats apart; the gaps between rows are uninitialized.
inline torch::Tensor transposed(const torch::Tensor& matrix, std::int64_t stride) {
  torch::Tensor rows = torch::empty({matrix.size(1), stride}, matrix.options());
  loops().transpose(matrix.size(0), matrix.size(1), data(matrix), matrix.size(1), data(rows), stride);
  return rows;
}

void keep_rule(AutogradContext* context, const DropoutRule& rule);
DropoutRule kept_rule(AutogradContext* context);

// The gradient of a parameter in a backward pass. If the parameter already has a gradient buffer (Parameter::grad), it
// is accumulated there and nothing is returned to autograd, which would need an extra pass to add it.
class ParameterGradient {
 public:
  explicit ParameterGradient(const torch::Tensor& parameter);  // may be undefined

  float* data() const { return kernels::data(sum_); }
  // Return value of the backward pass: undefined if accumulated in place.
  torch::Tensor returned() const { return in_place_ ? torch::Tensor() : sum_; }

 private:
  torch::Tensor sum_;
  bool in_place_ = false;
};

}  // namespace attnscope::kernels
