// Multi-head attention (Vaswani et al. 2017 §3.2), written out because torch::nn's decoder layer throws the weights
// away. Shape letters: model.h.
#pragma once

#include "kernels/libtorch.h"
#include "kernels/packing.h"
#include "model/model.h"
#include "model/positions.h"

namespace attnscope {

// Keys that must not be attended to. Undefined tensors mean: nothing is masked.
struct AttentionMask {
  torch::Tensor padding;                                  // bool B×K, true at padding
  torch::Tensor look_ahead;                               // bool Q×K, true at keys after the query (§3.2.3)
  kernels::Packing query_packing = {}, key_packing = {};  // instead of a padding, where sequences are packed
};

// Parameters are named and shaped as torch::nn::MultiheadAttention's, so state_dicts can be exchanged; Shaw's vectors
// are relative_k and relative_v. G heads of keys and values (model.num_kv_heads) serve the H heads of queries in order,
// H / G each (2305.13245): then, or with model.d_head, W_Q has H·d rows and W_K and W_V have G·d.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const ModelConfig& config, bool relative_vectors);

  // Queries, keys and values from x (B×Q×D) → B×Q×D. With a cache, the keys are those before x and x's, and the cache
  // then holds both. `part` says which attention this is to the inspection.
  torch::Tensor attend_self(const torch::Tensor& x, const AttentionMask& mask, const RelativePositions& positions,
                            torch::Tensor* cache, LayerInspection& inspection, AttentionPart part);

  // Queries from x (B×Q×D), keys and values from memory (B×K×D) → B×Q×D. With a cache, they are computed once.
  torch::Tensor attend_memory(const torch::Tensor& x, const torch::Tensor& memory, const AttentionMask& mask,
                              torch::Tensor* cache, LayerInspection& inspection);

  void set_dropout(double dropout) { dropout_ = dropout; }

  // Shaw's a^K by distance −k … k: (2k+1)×d; undefined without relative vectors.
  const torch::Tensor& relative_k() const { return relative_k_; }

 private:
  // B×K×D → B×K×2Gd, keys and values side by side
  torch::Tensor project(const torch::Tensor& memory);
  // …×2Gd → …×2Hd: every key and value head once for each query head that it serves.
  torch::Tensor for_all_heads(const torch::Tensor& memory) const;
  // queries: B×Q×(Hd + 2Gd), or B×Q×Hd with a memory B×K×2Gd; see kernels/attention.h.
  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& memory, const AttentionMask& mask,
                       const RelativePositions& positions, LayerInspection& inspection, AttentionPart part);

  std::int64_t num_heads_, key_heads_, d_;  // H, G, d
  bool scaled_;                             // scores are divided by √d_k
  double dropout_;
  torch::Tensor in_proj_weight_;           // (Hd + 2Gd)×D: W_Q, W_K, W_V one above the other
  torch::Tensor in_proj_bias_;             // Hd + 2Gd; undefined without model.biases
  torch::nn::Linear out_proj_;             // W_O
  torch::Tensor relative_k_, relative_v_;  // Shaw's a^K, a^V, (2k+1)×d each, the same for all heads; else undefined
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attnscope
