// What every sublayer of a pass over one sentence does to every token's vector (§3.1: residual, layer norm,
// feed-forward).
#pragma once

#include <vector>

#include "plain/matrix.h"

namespace attnscope {

enum class Sublayer { self_attention, cross_attention, feed_forward };

struct SublayerEffect {
  bool decoder = false;
  int layer = 0;
  Sublayer sublayer = Sublayer::self_attention;
  std::vector<float> norm_in;     // ‖x‖ of each token, before the sublayer and its norm
  std::vector<float> norm_added;  // ‖Sublayer(·)‖
  std::vector<float> norm_out;    // ‖x‖ after residual and, in post-norm, layer norm
  std::vector<float> cosine;      // between what came in and what goes out
  Matrix active;                  // feed-forward: tokens × d_ff, after ReLU or GELU; else empty
};

}  // namespace attnscope
