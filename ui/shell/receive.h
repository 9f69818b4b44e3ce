// What the session reported, folded into the window's state.
#pragma once

#include <memory>
#include <vector>

#include "shell/scope.h"

namespace attnscope {

// A null snapshot leaves the present one. A new run replaces configuration and curves and is asked to look at the
// sentence.
void receive(Scope& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot);

}  // namespace attnscope
