// Numbers to colours.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

using Color32 = std::uint32_t;  // bytes R G B A, as Dear ImGui's ImU32 and as a texture's pixel

enum class ColorMap {
  viridis,      // weights: 0 is dark, 1 is bright
  blue_orange,  // signed values on a dark background; the middle is dark
  blue_red,     // signed values on a light background; the middle is white
};

// The map's colours from 0 to 1, equally far apart.
std::span<const Color32> color_table(ColorMap map);

// `t` in 0…1, clamped; a neutral grey when it is not a number.
Color32 map_color(ColorMap map, float t);

// Black or white, whichever is read more easily on `background`.
Color32 text_on(Color32 background);

// `color` with its opacity multiplied by `alpha` (0…1).
Color32 faded(Color32 color, float alpha);

// Between a (t = 0) and b (t = 1).
Color32 mixed(Color32 a, Color32 b, float t);

}  // namespace attnscope
