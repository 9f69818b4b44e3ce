// A button with a drawn icon before its label: fonts rarely have these signs.
#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

enum class Icon { play, pause, step, reset };

// True when pressed.
bool icon_button(const char* label, Icon icon, Color32 icon_color, bool enabled, std::string_view help,
                 const Skin& skin);

}  // namespace attnscope
