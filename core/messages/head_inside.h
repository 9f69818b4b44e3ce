// The internal values of one attention head on one sentence (§3.2.1).
#pragma once

#include "common/matrix.h"
#include "config/heads.h"

namespace attnscope {

// The values of one head on one sentence. Q queries, K keys, d = D / H.
struct HeadInside {
  HeadPlace place;
  Matrix q;     // Q×d, after RoPE's rotation
  Matrix k;     // K×d
  Matrix v;     // K×d
  Matrix bias;  // Q×K added to the scaled scores (ALiBi, T5, Shaw's q·a^K / √d); empty: none
  // Shaw's a^V: row c + k belongs to the key c tokens after the query, distances clipped to k; empty: none
  Matrix relative_v;
  bool scaled = true;   // scores divided by √d
  bool causal = false;  // keys after the query are masked
  int window = 0;       // keys at this distance and beyond are masked; 0: none
  float score_width = 0;  // the scores are divided by its root; 0: d
  float score_cap = 0;    // c: the scores become c · tanh(score / c); 0: none
  Matrix heads_output;  // Q×D: all heads concatenated, the input of W_O
  Matrix w_o;           // D×D, PyTorch's out_proj.weight: output = heads_output · w_oᵀ + b_o
  Matrix b_o;           // 1×D
  Matrix output;        // Q×D: the output of the sublayer

  float scale_width() const { return score_width > 0 ? score_width : static_cast<float>(q.cols); }
};

}  // namespace attnscope
