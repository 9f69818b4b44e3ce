// What opens over the window: the file browser, the question after a dropped file, the keys.
#pragma once

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

void draw_dialogs(Scope& scope, const Skin& skin);

}  // namespace attnscope
