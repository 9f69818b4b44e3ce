// What files and folders are chosen for.
#pragma once

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

bool can_choose(const Scope& scope, Purpose purpose);

// Asks which one; nothing if it cannot be done now.
void choose(Scope& scope, Purpose purpose);

// The file browser, and the question whether what is there is to be replaced.
void draw_choosing(Scope& scope, const Skin& skin);

}  // namespace attnscope
