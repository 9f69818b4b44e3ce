// Many to one: what a classifier makes of all states of a text. Shape letters: model.h.
#pragma once

#include <string>

#include "kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// A weighted sum of the states, by model.pooling:
//   mean: the same weight for every piece; first, last: all of it for one piece (the last is </s>, which has no word of
//   its own to tell, as BERT's [CLS], 1810.04805 §3); attention: softmax over pieces of vᵀtanh(W h + b), v and W
//   learned (Yang et al. 2016, hierarchical attention networks, eq. 5–7).
// To an inspection it is cross-attention of one layer and one head, whose query is the label.
class PoolingImpl : public torch::nn::Module {
 public:
  PoolingImpl(const std::string& kind, std::int64_t d_model);

  // → B×T×D, the same for each of `queries`, T
  torch::Tensor forward(const Memory& memory, std::int64_t queries, Inspection* inspection);

 private:
  torch::Tensor weights(const Memory& memory);  // B×1×S, each row sums to 1

  std::string kind_;
  torch::nn::Linear W_{nullptr}, v_{nullptr};  // of attention
};
TORCH_MODULE(Pooling);

}  // namespace attnscope
