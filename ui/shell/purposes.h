// What files and folders are chosen for.
#pragma once

#include "base/skin.h"
#include "shell/app_state.h"

namespace attnscope {

bool can_choose(const AppState& scope, Purpose purpose);

// Asks which one; nothing if it cannot be done now.
void choose(AppState& scope, Purpose purpose);

// The file browser, and the question whether what is there is to be replaced.
void draw_choosing(AppState& scope, const Skin& skin);

}  // namespace attnscope
