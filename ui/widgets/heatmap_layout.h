// Layout of a heatmap and its mouse handling.
#pragma once

#include <imgui.h>

#include "base/skin.h"
#include "common/matrix_text.h"
#include "widgets/heatmap_options.h"

namespace attnscope {

inline constexpr float label_slant = 50;  // degrees; for column labels wider than their cells

struct HeatmapLayout {
  ImVec2 origin;              // top left corner of the whole heatmap
  ImVec2 body;                // top left corner of the visible cells
  ImVec2 sight;               // extent of the visible cells, in pixels
  ImVec2 first;               // column and row of the first visible cell; may be fractional
  ImVec2 cell;                // cell size in pixels
  float largest_scale = 1;    // maximum zoom: beyond it, no more detail would appear
  float row_labels = 0;       // left edge of the row labels
  float row_label_width = 0;  // maximum label width; longer ones are shortened
  float col_label_width = 0;
  float col_label_height = 0;
  bool slanted = false;  // column labels are slanted
  int row_stride = 1;    // a label fits at every row_stride-th row
  int col_stride = 1;
  float legend_x = 0;
  ImVec2 bars;         // left edge of the row bars, top edge of the column bars
  ImVec2 bars_extent;  // width of the row bars, height of the column bars

  // The top left corner of a cell, visible or not.
  ImVec2 corner(int row, int col) const {
    return {body.x + (static_cast<float>(col) - first.x) * cell.x,
            body.y + (static_cast<float>(row) - first.y) * cell.y};
  }
  ImVec2 end() const { return {body.x + sight.x, body.y + sight.y}; }
};

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options, ImVec2 origin, ImVec2 size,
                             const Skin& skin);

// Handles hovering, selecting, zooming and panning: creates the invisible buttons, changes options.zoom, and returns
// what is under the mouse.
HeatmapResult touch_heatmap(const Matrix& matrix, const HeatmapOptions& options, const HeatmapLayout& layout);

// The font for word labels; numbers are smaller.
ImFont* label_font(const Skin& skin);

}  // namespace attnscope
