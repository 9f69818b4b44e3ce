// The first line of the window: menu, training buttons, where the run stands.
#pragma once

#include <string>

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

void draw_menu_bar(Scope& scope, const Skin& skin);

// "step 1 240 · loss 1.83 · 9.1k tok/s · CPU"
std::string status_line(const Scope& scope);

}  // namespace attnscope
