// Multi-head scaled dot-product attention (Vaswani et al. 2017 §3.2) with optional position information: biases added
// to the scores, or Shaw's vectors. Shape letters: model/model.h.
#pragma once

#include <functional>

#include "model/kernels/libtorch.h"
#include "model/kernels/packing.h"

namespace attnscope::kernels {

struct AttentionInput {
  // Self-attention: B×Q×3D, queries, keys and values concatenated, with each head's d numbers contiguous. Otherwise
  // B×Q×D, only the queries.
  torch::Tensor queries;
  torch::Tensor memory;  // B×K×2D, keys and values concatenated; undefined: they are in `queries`
  std::int64_t num_heads = 1;
  double scale = 1;    // of the scores
  double dropout = 0;  // of the weights
  double cap = 0;      // scores become cap · tanh(score / cap) after the bias; 0: unlimited

  // Undefined if absent.
  torch::Tensor padding;                 // bool B×K, true at masked keys; ignored if keys are packed
  torch::Tensor look_ahead;              // bool Q×K, true for keys after the query; the queries are the last Q keys
  torch::Tensor outside;                 // bool Q×K, true for keys outside the query's window
  torch::Tensor bias;                    // H×Q×K, added to the scores after scaling
  torch::Tensor relative_k, relative_v;  // (2k+1)×d: a^K and a^V by clipped distance (1803.02155 §3.2)
  torch::Tensor distances;               // int64 Q×K, indices into them: clip(key − query, −k, k) + k

  // If set, queries or keys are 1×N instead of B×L. Only with fused attention, which exposes no weights.
  Packing query_packing, key_packing;
};

struct Attended {
  torch::Tensor heads;    // B×Q×D, concatenated
  torch::Tensor weights;  // B×H×Q×K, before dropout; no gradient flows through this output
};

// Replaces the weights before dropout and before they are applied to the values.
using WeightsChange = std::function<torch::Tensor(torch::Tensor weights)>;

// With a change, attention uses the composed implementation.
Attended attend(const AttentionInput& input, const WeightsChange& change = {});

// 0 or 1/(1−p) for the weights of the next attention, drawn exactly as attention draws it: B×H×Q×K, on the CPU.
torch::Tensor weights_mask(at::IntArrayRef sizes, double p);

// B×L×D → B×H×L×d
torch::Tensor split_heads(const torch::Tensor& x, std::int64_t num_heads);

// Queries, keys and values split by head, B×H×L×d each.
struct Heads {
  torch::Tensor q, k, v;
};
Heads heads_of(const AttentionInput& input);

// q_i · a^K_ij for every head: q B×H×Q×d → B×H×Q×K.
torch::Tensor relative_scores(const torch::Tensor& q, const torch::Tensor& relative_k, const torch::Tensor& distances);

// x: B×L×nD; rotates each head's pairs of neighboring dimensions in the first `parts` of the n parts (RoPE). rotations:
// L×d, cos and sin interleaved.
torch::Tensor rotate_heads(const torch::Tensor& x, std::int64_t num_heads, std::int64_t d_model, std::int64_t parts,
                           const torch::Tensor& rotations);

}  // namespace attnscope::kernels
