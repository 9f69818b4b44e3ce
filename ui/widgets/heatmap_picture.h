// Converts matrix values to texture pixels.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "common/color_map.h"
#include "base/skin.h"
#include "base/textures.h"
#include "common/matrix.h"
#include "widgets/painter.h"

namespace attnscope {

struct Coloring {
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool mask_upper = false;
  Color32 masked = 0;  // for hidden cells and NaN
};

Color32 cell_color(const Coloring& coloring, float value);

// Draws the matrix as a texture named after the ID stack; refilled only when `version` or the coloring changes. Each
// block of `shrink` × `shrink` cells becomes one pixel with the block's maximum, so bright lines survive.
void paint_matrix(Painter& paint, ImVec2 low, ImVec2 high, const Matrix& matrix, std::uint64_t version,
                  const Coloring& coloring, TextureStore& textures, int shrink = 1, Sharing sharing = Sharing::alone);

// ---- the legend

// Draws a bar of the map with labeled ends and advances the cursor by `size`. Vertical if it is taller than wide.
void draw_legend(ColorMap map, float low, float high, ImVec2 size, const Skin& skin);

}  // namespace attnscope
