#pragma once

#include <span>
#include <string>

#include "common/color_map.h"

namespace attnscope {

// Encodes width × height pixels, row by row from the top, as a PNG file. Throws std::runtime_error if out of memory.
std::string encode_png(std::span<const Color32> pixels, int width, int height);

}  // namespace attnscope
