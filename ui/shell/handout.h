// A page to be given out: the open lesson's parts and a picture of the workspace, one file that needs no other.
#pragma once

#include <string>
#include <string_view>

#include "shell/app_state.h"

namespace attnscope {

// HTML 5, well-formed as XML too. `svg` is the picture as a standalone file. What the lesson computes stands there as
// far as it is known by now; without a lesson the page is the picture with what it is of.
std::string handout_html(const AppState& scope, std::string_view svg);

}  // namespace attnscope
