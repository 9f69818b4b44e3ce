// Small pictures that illustrate a glossary term, computed from its formula.
#pragma once

#include <imgui.h>

#include <string_view>

#include "base/skin.h"

namespace attnscope {

bool has_picture(std::string_view term);

// Draws at the cursor, as wide as the rest of the window; nothing if the term has no picture.
void draw_term_picture(std::string_view term, const Skin& skin);

}  // namespace attnscope
