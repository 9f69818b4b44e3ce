// The purposes for which files and folders are chosen.
#pragma once

#include "base/skin.h"
#include "shell/app_state.h"

namespace attnscope {

bool can_choose(const AppState& scope, Purpose purpose);

// Opens the file browser for that purpose; does nothing if it is unavailable.
void choose(AppState& scope, Purpose purpose);

// Draws the file browser, and the question whether to replace an existing file.
void draw_choosing(AppState& scope, const Skin& skin);

}  // namespace attnscope
