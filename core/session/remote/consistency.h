// Checks that the parts of a message fit each other. The reader checks each field separately, but the users of a
// message rely on more: an attention map has a row per token, an index points into its list.
#pragma once

#include "session/remote/packets.h"

namespace attnscope {

// Throw WireError, which names the parts that do not fit.
void check_consistency(const ToServer& packet);
void check_consistency(const ToClient& packet);

}  // namespace attnscope
