// A row of small buttons of which one is chosen: the levels and modes inside a workspace.
#pragma once

#include <string_view>

#include "base/skin.h"

namespace attnscope {

// One button of the row, or of its next line where there is no room; the next one stands beside it. True when clicked.
bool draw_choice(const char* title, bool chosen, std::string_view help, const Skin& skin);

// Goes on in the next line if a small button with that title has no room in the row.
void break_choices(const char* title);

// Ends the row.
void end_choices();

}  // namespace attnscope
