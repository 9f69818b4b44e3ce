// The places whose values one run can patch into another (activation patching: Vig et al., arXiv 2004.12265;
// interpretation: 2404.15255).
#pragma once

#include <compare>

#include "config/heads.h"

namespace attnscope {

enum class ValueKind {
  state,  // the residual stream; in a recurrent layer its state, h and c, after a token
  // outputs of the heads of an attention, each before its part of W_O; a recurrent decoder's attention has one head
  heads,
  feed_forward,  // output of a feed-forward network
};

struct ValueSite {
  ValueKind kind = ValueKind::state;
  AttentionPart part = AttentionPart::encoder;  // for heads, the attention; otherwise the stack, encoder or decoder
  int layer = 0;                                // for a state: after this many layers, 0 is the embedding
  auto operator<=>(const ValueSite&) const = default;
};

}  // namespace attnscope
