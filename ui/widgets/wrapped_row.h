// Buttons in a row that goes on in the next line where it has no room.
#pragma once

#include "base/skin.h"

namespace attnscope {

// Puts the next item, of that width, beside the last one if there is room.
void next_in_row(float width, const Skin& skin);

// The same for a small button with that label.
void next_in_row(const char* label, const Skin& skin);

// The same for a checkbox.
void next_checkbox_in_row(const char* label, const Skin& skin);

}  // namespace attnscope
