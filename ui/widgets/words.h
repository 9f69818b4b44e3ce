// Text in the flow of a window: bold, dim, in a colour.
#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

void bold_text(std::string_view text, const Skin& skin);
void dim_text(std::string_view text, const Skin& skin);
void colored_text(Color32 color, std::string_view text);

}  // namespace attnscope
