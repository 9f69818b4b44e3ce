// Pools all states of a text into a classifier's features. Shape letters: model.h.
#pragma once

#include <string>

#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// A weighted sum of the states, by model.pooling. mean: equal weights. first, last: all weight on one token (the last
// is </s>, which carries no word of its own, similar to BERT's [CLS], 1810.04805 §3). attention: softmax over tokens of
// vᵀtanh(W h + b) with learned v and W (Yang et al. 2016, hierarchical attention networks, eq. 5–7). An inspection sees
// it as cross-attention with one layer and one head, whose query is the label.
class PoolingImpl : public torch::nn::Module {
 public:
  PoolingImpl(const std::string& kind, std::int64_t d_model);

  // → B×T×D, the same vector for each of the T = `queries` positions
  torch::Tensor forward(const Memory& memory, std::int64_t queries, Inspection* inspection);

 private:
  torch::Tensor weights(const Memory& memory);  // B×1×S, each row sums to 1

  std::string kind_;
  torch::nn::Linear W_{nullptr}, v_{nullptr};  // for attention pooling
};
TORCH_MODULE(Pooling);

}  // namespace attnscope
