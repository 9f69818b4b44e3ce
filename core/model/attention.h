// Multi-head attention (Vaswani et al. 2017 §3.2), implemented here because torch::nn's decoder layer discards the
// attention weights. Shape letters: model.h.
#pragma once

#include "model/kernels/libtorch.h"
#include "model/kernels/packing.h"
#include "model/model.h"
#include "model/norm.h"
#include "model/positions.h"

namespace attnscope {

// Masks of the keys. Undefined tensors mean that nothing is masked.
struct AttentionMask {
  torch::Tensor padding;                                  // bool B×K, true at padding
  torch::Tensor look_ahead;                               // bool Q×K, true at keys after the query (§3.2.3)
  torch::Tensor outside;                                  // bool Q×K, true at keys outside the window
  kernels::Packing query_packing = {}, key_packing = {};  // instead of padding, if sequences are packed
};

// Parameters are named and shaped as in torch::nn::MultiheadAttention, so state_dicts can be exchanged; Shaw's vectors
// are relative_k and relative_v. G key-value heads (model.num_kv_heads) serve the H query heads in order, H / G each
// (arXiv 2305.13245). In that case, or with model.d_head, W_Q has H·d rows; W_K and W_V have G·d.
class MultiHeadAttentionImpl : public torch::nn::Module {
 public:
  explicit MultiHeadAttentionImpl(const ModelConfig& config, bool relative_vectors);

  // Queries, keys and values from x (B×Q×D) → B×Q×D. With a cache, the keys are the cached ones followed by those of x,
  // and the cache is extended by x. `part` names this attention for the inspection.
  torch::Tensor attend_self(const torch::Tensor& x, const AttentionMask& mask, const RelativePositions& positions,
                            torch::Tensor* cache, LayerInspection& inspection, AttentionPart part);

  // Queries from x (B×Q×D), keys and values from memory (B×K×D) → B×Q×D. With a cache, keys and values are computed
  // only once.
  torch::Tensor attend_memory(const torch::Tensor& x, const torch::Tensor& memory, const AttentionMask& mask,
                              torch::Tensor* cache, LayerInspection& inspection);

  void set_dropout(double dropout) { dropout_ = dropout; }

  // Shaw's a^K by distance −k … k: (2k+1)×d; undefined without relative vectors.
  const torch::Tensor& relative_k() const { return relative_k_; }

 private:
  // B×K×D → B×K×2Gd, keys and values concatenated
  torch::Tensor project(const torch::Tensor& memory);
  // Normalizes the queries and keys of every head: B×Q×(Hd + 2Gd).
  torch::Tensor normalized(const torch::Tensor& projected);
  // …×2Gd → …×2Hd: repeats every key and value head for each query head that it serves.
  torch::Tensor for_all_heads(const torch::Tensor& memory) const;
  // queries: B×Q×(Hd + 2Gd), or B×Q×Hd with a memory B×K×2Gd; see model/kernels/attention.h.
  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& memory, const AttentionMask& mask,
                       const RelativePositions& positions, LayerInspection& inspection, AttentionPart part);

  std::int64_t num_heads_, key_heads_, d_;  // H, G, d
  bool scaled_;                             // scores are divided by √score_width
  double score_width_;                      // d_k, or another number
  double cap_;                              // of the scores; 0: none
  std::int64_t window_;                     // 0: none
  double dropout_;
  torch::Tensor in_proj_weight_;           // (Hd + 2Gd)×D: W_Q, W_K, W_V stacked
  torch::Tensor in_proj_bias_;             // Hd + 2Gd; undefined without model.biases
  torch::nn::Linear out_proj_;             // W_O
  Norm q_norm_{nullptr}, k_norm_{nullptr};  // of every head; none without model.query_key_norm
  torch::Tensor relative_k_, relative_v_;  // Shaw's a^K, a^V, (2k+1)×d each, shared by all heads; else undefined
};
TORCH_MODULE(MultiHeadAttention);

}  // namespace attnscope
