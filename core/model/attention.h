// Multi-head attention (Vaswani et al. 2017 §3.2), written out because torch::nn's decoder layer throws the weights
// away.
//
// Shape letters of the whole model: B batch, S source length, T target length, D d_model, H heads, V vocabulary;
// in attention alone: Q queries, K keys, d = D / H.
#pragma once

#include <torch/torch.h>

namespace attnscope {

// Keys that must not be attended to. Undefined tensors mean: nothing is masked.
struct AttentionMask {
  torch::Tensor padding;     // bool B×K, true at padding
  torch::Tensor look_ahead;  // bool Q×K, true at keys after the query (§3.2.3)
};

struct AttentionOutput {
  torch::Tensor output;   // B×Q×D
  torch::Tensor weights;  // B×H×Q×K, each row sums to 1; before dropout
};

// Parameters are named and shaped as torch::nn::MultiheadAttention's, so state_dicts can be exchanged.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  MultiHeadAttentionImpl(std::int64_t d_model, std::int64_t num_heads, double dropout);

  // Queries from x (B×Q×D), keys and values from memory (B×K×D); x itself for self-attention.
  AttentionOutput forward(const torch::Tensor& x, const torch::Tensor& memory, const AttentionMask& mask);

  void set_dropout(double dropout) { dropout_ = dropout; }

 private:
  torch::Tensor split_heads(const torch::Tensor& x) const;  // B×L×D → B×H×L×d

  std::int64_t num_heads_;
  double dropout_;
  torch::Tensor in_proj_weight_;  // 3D×D: W_Q, W_K, W_V one above the other
  torch::Tensor in_proj_bias_;    // 3D
  torch::nn::Linear out_proj_;    // W_O
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attnscope
