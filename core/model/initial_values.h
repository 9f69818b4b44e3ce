// Parameter initialization.
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope {

// While it is in scope, models that this thread creates have uninitialized parameters. Used before loading weights:
// initializing a large model takes longer than reading it.
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

// Xavier initialization (Glorot & Bengio 2010), in place.
inline torch::Tensor begin_by_xavier(torch::Tensor weight) {
  return WithoutInitialValues::in_force() ? weight : torch::nn::init::xavier_uniform_(weight);
}

// Normal with a small standard deviation, as in BERT, whose norm after the embeddings makes their common scale
// irrelevant: tokens, positions and token types begin equally large. In place.
inline torch::Tensor begin_small(torch::Tensor weight) {
  constexpr double deviation = 0.02;
  return WithoutInitialValues::in_force() ? weight : torch::nn::init::normal_(weight, 0, deviation);
}

// A linear layer with Xavier-initialized weight and zero bias.
torch::nn::Linear xavier_linear(std::int64_t in, std::int64_t out, bool bias);

}  // namespace attnscope
