// What goes on inside a pass over one sentence: what every sublayer does to every token's vector (§3.1: residual, layer
// norm, feed-forward), and the numbers of one head.
#pragma once

#include <vector>

#include "plain/heads.h"
#include "plain/matrix.h"

namespace attnscope {

enum class Sublayer { self_attention, cross_attention, feed_forward };

struct SublayerFlow {
  bool decoder = false;
  int layer = 0;
  Sublayer sublayer = Sublayer::self_attention;
  std::vector<float> norm_in;     // ‖x‖ of each token, before the sublayer and its norm
  std::vector<float> norm_added;  // ‖Sublayer(·)‖
  std::vector<float> norm_out;    // ‖x‖ after residual and, in post-norm, layer norm
  std::vector<float> cosine;      // between what came in and what goes out
  Matrix active;                  // feed-forward: tokens × d_ff, after ReLU or GELU; else empty
};

// ---- one attention head's own numbers on one sentence (§3.2.1)

// What the model gave of one head on one sentence. Q queries, K keys, d = D / H.
struct HeadInside {
  HeadPlace place;
  Matrix q;             // Q×d, RoPE's rotation done
  Matrix k;             // K×d
  Matrix v;             // K×d
  Matrix bias;          // Q×K added to the scaled scores (ALiBi, T5, Shaw's q·a^K / √d); empty: none
  Matrix relative_v;    // Shaw's a^V: row c + k is of the key c pieces after the query, farther ones than k clipped;
                        // empty: none
  bool scaled = true;   // scores divided by √d
  bool causal = false;  // keys after the query are masked
  Matrix heads_output;  // Q×D: all heads side by side, what W_O is given
  Matrix w_o;           // D×D, PyTorch's out_proj.weight: output = heads_output · w_oᵀ + b_o
  Matrix b_o;           // 1×D
  Matrix output;        // Q×D: what the sublayer gives
};

}  // namespace attnscope
