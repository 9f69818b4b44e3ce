// Whether the parts of a message fit each other. The reader checks every field by itself; whoever uses a message relies
// on more: an attention map has a row per token, an index points into its list.
#pragma once

#include "session/remote/packets.h"

namespace attnscope {

// Throw WireError, which names the parts that do not fit.
void check_consistency(const ToServer& packet);
void check_consistency(const ToClient& packet);

}  // namespace attnscope
