// What the fused operators of this room share.
#pragma once

#include "kernels/backend.h"
#include "kernels/dropout.h"
#include "kernels/libtorch.h"
#include "kernels/processor.h"

namespace attnscope::kernels {

using torch::autograd::AutogradContext;
using torch::autograd::tensor_list;

// A Function takes no undefined tensor: an empty one stands for it.
inline torch::Tensor or_empty(const torch::Tensor& tensor) {
  static const torch::Tensor empty = torch::empty({0});
  return tensor.defined() ? tensor : empty;
}

inline bool is_there(const torch::Tensor& tensor) {
  return tensor.defined() && tensor.numel() > 0;
}

// Null where there is none.
inline float* data(const torch::Tensor& tensor) {
  return is_there(tensor) ? tensor.data_ptr<float>() : nullptr;
}

// …×D as a number of rows.
inline std::int64_t num_rows(const torch::Tensor& x) {
  return x.numel() / x.size(-1);
}

// The matrix transposed, its rows `stride` floats apart; what lies between them is not set.
inline torch::Tensor transposed(const torch::Tensor& matrix, std::int64_t stride) {
  torch::Tensor rows = torch::empty({matrix.size(1), stride}, matrix.options());
  loops().transpose(matrix.size(0), matrix.size(1), data(matrix), matrix.size(1), data(rows), stride);
  return rows;
}

void keep_rule(AutogradContext* context, const DropoutRule& rule);
DropoutRule kept_rule(AutogradContext* context);

// The gradient of a parameter in a backward pass. Where the parameter has room for it already (Parameter::grad), it is
// added there and nothing is handed to autograd, which would add it in a pass of its own.
class ParameterGradient {
 public:
  explicit ParameterGradient(const torch::Tensor& parameter);  // may be undefined

  float* data() const { return kernels::data(sum_); }
  // What the backward pass returns: undefined if it was added in place.
  torch::Tensor returned() const { return in_place_ ? torch::Tensor() : sum_; }

 private:
  torch::Tensor sum_;
  bool in_place_ = false;
};

}  // namespace attnscope::kernels
