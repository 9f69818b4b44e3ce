#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

// What the last item does, wrapped, once the mouse has rested on it. Works on disabled items too.
void help_tooltip(std::string_view text, const Skin& skin);

}  // namespace attnscope
