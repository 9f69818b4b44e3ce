#include "model/pooling.h"

#include <limits>

namespace attnscope {

PoolingImpl::PoolingImpl(const std::string& kind, std::int64_t d_model) : kind_(kind) {
  if (kind != "attention") return;
  W_ = register_module("W", torch::nn::Linear(d_model, d_model));
  v_ = register_module("v", torch::nn::Linear(torch::nn::LinearOptions(d_model, 1).bias(false)));
}

torch::Tensor PoolingImpl::weights(const Memory& memory) {
  const torch::Tensor& states = memory.states;
  const torch::Tensor none = torch::zeros({states.size(0), states.size(1)}, states.options());  // B×S
  const torch::Tensor there = memory.padding.defined() ? memory.padding.logical_not().to(none.dtype()) : none + 1;
  if (kind_ == "mean") return (there / there.sum(1, /*keepdim=*/true)).unsqueeze(1);
  if (kind_ == "first")
    return none.index_fill(1, torch::zeros({1}, states.options().dtype(torch::kInt64)), 1).unsqueeze(1);
  if (kind_ == "last") {
    const torch::Tensor last = there.sum(1, /*keepdim=*/true).to(torch::kInt64) - 1;
    return none.scatter(1, last, 1).unsqueeze(1);
  }
  torch::Tensor scores = v_(torch::tanh(W_(states))).squeeze(2);  // B×S
  if (memory.padding.defined()) scores = scores.masked_fill(memory.padding, -std::numeric_limits<double>::infinity());
  return torch::softmax(scores, 1).unsqueeze(1);
}

torch::Tensor PoolingImpl::forward(const Memory& memory, std::int64_t queries, Inspection* inspection) {
  LayerInspection inspected(inspection, true, 0, 0);
  torch::Tensor weights = this->weights(memory).unsqueeze(1).expand({-1, 1, queries, -1});  // B×1×T×S
  if (inspected.changes_weights(AttentionPart::cross)) weights = inspected.changed(weights, AttentionPart::cross);
  inspected.keep_weights(weights, AttentionPart::cross);
  const torch::Tensor pooled = torch::matmul(weights, memory.states.unsqueeze(1));  // B×1×T×D
  return inspected.heads(pooled, AttentionPart::cross).squeeze(1);
}

}  // namespace attnscope
