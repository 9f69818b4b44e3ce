// Headings inside the decoding workspace.
#pragma once

#include <string>
#include <string_view>

#include "base/skin.h"

namespace attnscope {

// A heading, a few words beside it, and the whole of it in the tooltip of both.
void draw_caption(const char* title, const std::string& words, std::string_view help, const Skin& skin);

}  // namespace attnscope
