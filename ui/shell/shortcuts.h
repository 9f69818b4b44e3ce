#pragma once

#include "shell/scope.h"

namespace attnscope {

// What the keys do; once a frame, before anything is drawn. Keys without Ctrl are the window's only while no text is
// being typed and no dialog is open.
void handle_shortcuts(Scope& scope);

}  // namespace attnscope
