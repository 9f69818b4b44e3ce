// Where a model's values stand that one run can lend another (activation patching: Vig et al., arXiv 2004.12265;
// its readings: 2404.15255).
#pragma once

#include <compare>

#include "plain/heads.h"

namespace attnscope {

enum class ValueKind {
  state,         // the residual stream; of a recurrent layer its state, h and c, after a token
  heads,         // what the heads of an attention give, each before its part of W_O; a recurrent decoder's has one
  feed_forward,  // what a feed-forward network adds
};

struct ValueSite {
  ValueKind kind = ValueKind::state;
  AttentionPart part = AttentionPart::encoder;  // of heads which attention; else of which stack, encoder or decoder
  int layer = 0;                                // of a state: after so many layers, 0 as embedded
  auto operator<=>(const ValueSite&) const = default;
};

}  // namespace attnscope
