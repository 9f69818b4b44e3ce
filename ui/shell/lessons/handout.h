// A handout: the open lesson's parts and a picture of the workspace, in one self-contained file.
#pragma once

#include <string>
#include <string_view>

#include "shell/app_state.h"

namespace attnscope {

// Returns HTML 5 that is also well-formed XML. `svg` is the picture as a standalone file. Values that the lesson
// computes are included as far as they are known. Without a lesson, the page is the picture with its caption.
std::string handout_html(const AppState& scope, std::string_view svg);

}  // namespace attnscope
