// The sentence everything is about, and what the model makes of it.
#pragma once

#include "base/skin.h"
#include "shell/scope.h"

namespace attnscope {

// At the cursor, as wide as the window.
void draw_sentence_bar(Scope& scope, const Skin& skin);

float sentence_bar_height(const Skin& skin);

}  // namespace attnscope
