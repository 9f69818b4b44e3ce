// What opens over the window: the file browser, the question after a dropped file, the keys.
#pragma once

#include "look.h"
#include "scope.h"

namespace attnscope {

void draw_dialogs(Scope& scope, const Look& look);

}  // namespace attnscope
