#include "model/recurrent_attention.h"

#include <limits>

namespace attnscope {
namespace {

torch::nn::Linear matrix(std::int64_t in, std::int64_t out) {
  return torch::nn::Linear(torch::nn::LinearOptions(in, out).bias(false));
}

}  // namespace

RecurrentAttentionImpl::RecurrentAttentionImpl(const std::string& score, std::int64_t d_model) {
  const bool additive = score == "bahdanau" || score == "luong-concat";
  if (score != "luong-dot") W_ = register_module("W", matrix(d_model, d_model));
  if (additive) U_ = register_module("U", matrix(d_model, d_model));
  if (additive) v_ = register_module("v", matrix(d_model, 1));
  W_c_ = register_module("W_c", matrix(2 * d_model, d_model));
}

torch::Tensor RecurrentAttentionImpl::keys(const Memory& memory) {
  if (U_) return U_(memory.states);
  return W_ ? W_(memory.states) : memory.states;
}

// The score of every state s with every source position h, B×T×S. Dot: sᵀh. General: sᵀWh. Additive: vᵀtanh(W s + U h);
// Luong's W[s; h] is the same with W and U in one matrix. Bahdanau's s is the state before the token, Luong's the one
// after it; the caller chooses.
torch::Tensor RecurrentAttentionImpl::scores(const torch::Tensor& states, const torch::Tensor& keys) {
  if (!v_) return torch::bmm(states, keys.transpose(1, 2));
  return v_(torch::tanh(W_(states).unsqueeze(2) + keys.unsqueeze(1))).squeeze(3);
}

Seen RecurrentAttentionImpl::attend(const torch::Tensor& states, const torch::Tensor& keys, const Memory& memory,
                                    Inspection* inspection, std::int64_t first) {
  torch::Tensor masked = scores(states, keys);
  if (memory.padding.defined()) {
    masked = masked.masked_fill(memory.padding.unsqueeze(1), -std::numeric_limits<double>::infinity());
  }
  torch::Tensor weights = torch::softmax(masked, -1);
  if (!inspection || (!inspection->patches && !inspection->values_wanted))
    return {torch::bmm(weights, memory.states), weights};
  const LayerInspection here(inspection, true, 0, first);
  if (here.changes_weights(AttentionPart::cross))
    weights = here.changed(weights.unsqueeze(1), AttentionPart::cross).squeeze(1);
  const torch::Tensor contexts = torch::bmm(weights, memory.states).unsqueeze(1);  // with a dimension for one head
  return {patched(inspection, {ValueKind::heads, AttentionPart::cross, 0}, contexts, first).squeeze(1), weights};
}

torch::Tensor RecurrentAttentionImpl::readout(const torch::Tensor& contexts, const torch::Tensor& states) {
  return torch::tanh(W_c_(torch::cat({contexts, states}, 2)));
}

}  // namespace attnscope
