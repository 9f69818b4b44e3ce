// Which attention is meant.
#pragma once

#include <cstddef>

namespace attnscope {

// The three places of attention in the paper's figure 1 (§3.2.3).
enum class AttentionPart { encoder, decoder, cross };

struct HeadPlace {
  AttentionPart part = AttentionPart::encoder;
  int layer = 0;
  int head = 0;
  bool operator==(const HeadPlace&) const = default;
};

}  // namespace attnscope
