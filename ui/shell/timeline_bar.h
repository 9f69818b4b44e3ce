// The bar that goes through what was recorded of a pinned sentence.
#pragma once

#include "base/look.h"
#include "shell/scope.h"

namespace attnscope {

// At the cursor, as wide as the window; nothing while no sentence is pinned.
void draw_timeline(Scope& scope, const Look& look);
float timeline_height(const Scope& scope, const Look& look);

}  // namespace attnscope
