// The model's positional encoding in any scheme: vectors by position (sinusoidal, learned, RoPE's rotations) or by
// distance (Shaw) and their similarities; biases by distance (T5, ALiBi).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/skin.h"
#include "base/textures.h"
#include "common/matrix.h"
#include "messages/snapshot.h"
#include "widgets/plot.h"

namespace attnscope {

struct PositionNumbersView {
  std::size_t table = 0;                         // index of the snapshot's table on display
  std::vector<int> dimensions = {4, 5, 16, 17};  // drawn as curves
  int row = 0;                                   // the row whose dot products with the others are drawn
  PlotAxis curves_axis;
  PlotView curves;
  PlotAxis products_axis;
  PlotView products;

  // Derived from the snapshot's table when it changes.
  std::shared_ptr<const std::vector<PositionTable>> source;
  std::string scheme;
  PositionTable shown;
  Matrix dots;   // for vectors: rows × rows, pairwise dot products
  Matrix heads;  // for biases: heads × distances
  std::uint64_t version = 0;
};

// Fills the rest of the window. `snapshot` may be null.
void draw_position_numbers(const Snapshot* snapshot, PositionNumbersView& view, TextureStore& textures,
                           const Skin& skin);

}  // namespace attnscope
