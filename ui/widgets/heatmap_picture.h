// A matrix's numbers as the pixels of a texture.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "base/color_map.h"
#include "base/skin.h"
#include "base/textures.h"
#include "plain/matrix.h"
#include "widgets/painter.h"

namespace attnscope {

struct Coloring {
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool mask_upper = false;
  Color32 masked = 0;  // of hidden cells, and of what is no number
};

Color32 cell_color(const Coloring& coloring, float value);

// Draws the matrix as a texture named after the ID stack; it is filled again only when `version` or the colouring
// changed. `shrink` cells a side become one pixel, which has the largest of their values: bright lines survive.
void paint_matrix(Painter& paint, ImVec2 low, ImVec2 high, const Matrix& matrix, std::uint64_t version,
                  const Coloring& coloring, TextureStore& textures, int shrink = 1, Sharing sharing = Sharing::alone);

// ---- what the colours stand for

// A bar of the map with its ends labelled, advancing the cursor by `size`. Upright when higher than wide.
void draw_legend(ColorMap map, float low, float high, ImVec2 size, const Skin& skin);

}  // namespace attnscope
