// A line of text that belongs to a picture: it is in the file when the picture is saved.
#pragma once

#include <imgui.h>

#include <string_view>

#include "base/skin.h"

namespace attnscope {

// At the cursor, as an item: it can be hovered, and what follows stands beneath it or, after SameLine, beside it.
void draw_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

// Broken into as many lines as it needs.
void draw_wrapped_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin);

}  // namespace attnscope
