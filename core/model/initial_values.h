// What parameters begin as.
#pragma once

#include "kernels/libtorch.h"

namespace attnscope {

// In its scope the models that this thread makes have any numbers at all: others will take their place, and to draw
// those of a large model takes longer than to read it.
class WithoutInitialValues {
 public:
  WithoutInitialValues() { ++scopes_; }
  ~WithoutInitialValues() { --scopes_; }
  WithoutInitialValues(const WithoutInitialValues&) = delete;
  WithoutInitialValues& operator=(const WithoutInitialValues&) = delete;

  static bool in_force() { return scopes_ > 0; }

 private:
  static inline thread_local int scopes_ = 0;
};

// By Xavier's rule (Glorot & Bengio 2010), in place.
inline torch::Tensor begin_by_xavier(torch::Tensor weight) {
  return WithoutInitialValues::in_force() ? weight : torch::nn::init::xavier_uniform_(weight);
}

// A linear map whose weight begins by Xavier's rule, its bias at zero.
torch::nn::Linear xavier_linear(std::int64_t in, std::int64_t out, bool bias);

}  // namespace attnscope
