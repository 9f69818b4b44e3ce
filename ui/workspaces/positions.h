// Sinusoidal positions (§3.5): the matrix, some of its dimensions, and how positions resemble each other.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "look.h"
#include "plain/matrix.h"
#include "plain/snapshot.h"
#include "textures.h"
#include "widgets/plot.h"

namespace attnscope {

struct PositionsView {
  std::vector<int> dimensions = {4, 5, 16, 17};  // drawn as curves
  int position = 0;                              // whose dot products with the others are drawn
  PlotAxis waves_axis;
  PlotView waves;
  PlotAxis products_axis;
  PlotView products;

  // Made from the matrix when it changes.
  std::shared_ptr<const Matrix> source;
  Matrix dots;  // positions × positions: the dot product of each pair
  std::uint64_t version = 0;
};

// Fills what is left of the window. `snapshot` may be null.
void draw_positions(const Snapshot* snapshot, PositionsView& view, TextureStore& textures, const Look& look);

// Row i, column j: the dot product of rows i and j.
Matrix dot_products(const Matrix& rows);

}  // namespace attnscope
