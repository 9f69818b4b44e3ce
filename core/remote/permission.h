// What a watcher elsewhere may have done.
#pragma once

#include <optional>

#include "plain/messages.h"

namespace attnscope {

// Why the command is not obeyed; nothing: it is. Looks and studies always are, within bounds; what trains or pauses the
// run only with `control`; never what names files here or puts another run in the place of this one.
std::optional<Message> refusal(const Command& command, bool control);

}  // namespace attnscope
