// A row of small buttons of which one is chosen: the levels and modes inside a workspace.
#pragma once

#include <string_view>

#include "look.h"

namespace attnscope {

// One button of the row; the next one stands beside it. True when clicked.
bool draw_choice(const char* title, bool chosen, std::string_view help, const Look& look);

// Ends the row.
void end_choices();

}  // namespace attnscope
