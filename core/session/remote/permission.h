// The permissions of a remote client.
#pragma once

#include <optional>

#include "messages/messages.h"

namespace attnscope {

// Returns why the command is refused; nothing: it is allowed. Probes and studies are always allowed within limits.
// Training and pausing need `control`. Commands that name local files or replace the run are never allowed.
std::optional<Message> refusal(const Command& command, bool control);

}  // namespace attnscope
