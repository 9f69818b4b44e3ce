// Scaled dot-product attention of all heads (Vaswani et al. 2017 §3.2), with what tells the order: biases added to the
// scores, or Shaw's vectors. Shape letters: model/model.h.
#pragma once

#include <functional>

#include "kernels/libtorch.h"
#include "kernels/packing.h"

namespace attnscope::kernels {

struct AttentionInput {
  // B×Q×3D, queries, keys and values side by side, each head's d numbers together (self-attention); or B×Q×D, the
  // queries alone.
  torch::Tensor queries;
  torch::Tensor memory;  // B×K×2D, keys and values side by side; undefined: they are in `queries`
  std::int64_t num_heads = 1;
  double scale = 1;    // of the scores
  double dropout = 0;  // of the weights

  // Undefined where there is none.
  torch::Tensor padding;     // bool B×K, true at keys that are not attended to; not read where keys are packed
  torch::Tensor look_ahead;  // bool Q×K, true at keys after the query, the queries being the last of the keys
  torch::Tensor bias;        // H×Q×K, added to the scores after their scaling
  torch::Tensor relative_k, relative_v;  // (2k+1)×d: a^K and a^V by clipped distance (1803.02155 §3.2)
  torch::Tensor distances;               // int64 Q×K, which of them: clip(key − query, −k, k) + k

  // Where it is given, queries or keys are 1×N instead of B×L. Fused only, and then there are no weights to be seen.
  Packing query_packing, key_packing;
};

struct Attended {
  torch::Tensor heads;    // B×Q×D, side by side
  torch::Tensor weights;  // B×H×Q×K, before dropout; no gradient goes through them here
};

// What is to become of the weights before dropout and values.
using WeightsChange = std::function<torch::Tensor(torch::Tensor weights)>;

// With a change, the attention is composed.
Attended attend(const AttentionInput& input, const WeightsChange& change = {});

// 0 or 1/(1−p) for the weights of the next attention, drawn as it draws them: B×H×Q×K, on the CPU.
torch::Tensor weights_mask(at::IntArrayRef sizes, double p);

// B×L×D → B×H×L×d
torch::Tensor split_heads(const torch::Tensor& x, std::int64_t num_heads);

// The queries, keys and values of an input, B×H×L×d each.
struct Heads {
  torch::Tensor q, k, v;
};
Heads heads_of(const AttentionInput& input);

// q_i · a^K_ij for every head: q B×H×Q×d → B×H×Q×K.
torch::Tensor relative_scores(const torch::Tensor& q, const torch::Tensor& relative_k, const torch::Tensor& distances);

// x: B×L×nD, each head's pairs of neighbouring dimensions rotated in the first `parts` of its n parts (RoPE).
// rotations: L×d, cos and sin by turns.
torch::Tensor rotate_heads(const torch::Tensor& x, std::int64_t num_heads, std::int64_t d_model, std::int64_t parts,
                           const torch::Tensor& rotations);

}  // namespace attnscope::kernels
