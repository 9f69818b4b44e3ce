// What Dear ImGui's buttons take up.
#pragma once

namespace attnscope {

// The width of a button with that label; what follows ## in it is not drawn.
float button_width(const char* label);

}  // namespace attnscope
