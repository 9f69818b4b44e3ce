// Text in the flow of a window: bold, dim, in a colour.
#pragma once

#include <string_view>

#include "base/look.h"

namespace attnscope {

void bold_text(std::string_view text, const Look& look);
void dim_text(std::string_view text, const Look& look);
void colored_text(Color32 color, std::string_view text);

}  // namespace attnscope
