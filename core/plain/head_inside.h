// One attention head's own numbers on one sentence (§3.2.1).
#pragma once

#include "plain/heads.h"
#include "plain/matrix.h"

namespace attnscope {

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
