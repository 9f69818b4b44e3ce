// The effect of every sublayer on every token's vector in one forward pass (§3.1: residual, layer norm, feed-forward).
#pragma once

#include <vector>

#include "common/matrix.h"

namespace attnscope {

enum class Sublayer { self_attention, cross_attention, feed_forward };

struct SublayerEffect {
  bool decoder = false;
  int layer = 0;
  Sublayer sublayer = Sublayer::self_attention;
  std::vector<float> norm_in;     // ‖x‖ of each token, before the sublayer and its norm
  std::vector<float> norm_added;  // ‖Sublayer(·)‖
  std::vector<float> norm_out;    // ‖x‖ after residual and, in post-norm, layer norm
  std::vector<float> cosine;      // between the sublayer's input and output vectors
  Matrix active;                  // feed-forward: tokens × d_ff, after ReLU or GELU; otherwise empty
};

}  // namespace attnscope
