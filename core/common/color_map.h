// Color maps: numbers to colors.
#pragma once

#include <cstdint>
#include <span>

namespace attnscope {

using Color32 = std::uint32_t;  // bytes R G B A, as in Dear ImGui's ImU32 and in texture pixels

enum class ColorMap {
  viridis,      // weights: 0 is dark, 1 is bright
  blue_orange,  // signed values on a dark background; the middle is dark
  blue_red,     // signed values on a light background; the middle is white
};

// The map's colors from 0 to 1, equally spaced.
std::span<const Color32> color_table(ColorMap map);

// Maps `t`, clamped to 0…1, to a color; NaN gives a neutral gray.
Color32 map_color(ColorMap map, float t);

// Returns black or white, whichever is easier to read on `background`.
Color32 text_on(Color32 background);

// `color` with its opacity multiplied by `alpha` (0…1).
Color32 faded(Color32 color, float alpha);

// Interpolates linearly between a (t = 0) and b (t = 1).
Color32 mixed(Color32 a, Color32 b, float t);

}  // namespace attnscope
