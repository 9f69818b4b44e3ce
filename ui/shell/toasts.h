// Messages and long work, over the lower right corner of the workspace.
#pragma once

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

inline constexpr double info_seconds = 6;
inline constexpr double warning_seconds = 12;

// Opens a window of its own whose lower right corner is at `corner`; drops what has been shown long enough.
void draw_toasts(Scope& scope, ImVec2 corner, const Skin& skin);

}  // namespace attnscope
