// The sentence everything is about, and what the model makes of it.
#pragma once

#include "base/look.h"
#include "shell/scope.h"

namespace attnscope {

// At the cursor, as wide as the window.
void draw_sentence_bar(Scope& scope, const Look& look);

float sentence_bar_height(const Look& look);

}  // namespace attnscope
