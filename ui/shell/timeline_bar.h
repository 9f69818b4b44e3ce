// The bar that goes through what was recorded of a pinned sentence.
#pragma once

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

// At the cursor, as wide as the window; nothing while no sentence is pinned.
void draw_timeline(Scope& scope, const Skin& skin);
float timeline_height(const Scope& scope, const Skin& skin);

}  // namespace attnscope
