// What opens over the window: the file browser, the question after a dropped file, the keys.
#pragma once

#include "base/look.h"
#include "shell/scope.h"

namespace attnscope {

void draw_dialogs(Scope& scope, const Look& look);

}  // namespace attnscope
