// Small pictures of what a term of the glossary means, drawn from its formula.
#pragma once

#include <imgui.h>

#include <string_view>

#include "base/skin.h"

namespace attnscope {

bool has_picture(std::string_view term);

// At the cursor, as wide as what is left of the window; nothing where the term has no picture.
void draw_term_picture(std::string_view term, const Skin& skin);

}  // namespace attnscope
