#pragma once

#include <span>
#include <string>

#include "base/color_map.h"

namespace attnscope {

// width × height pixels, row by row from the top, as a PNG file. Throws std::runtime_error if there is no memory for
// it.
std::string encode_png(std::span<const Color32> pixels, int width, int height);

}  // namespace attnscope
