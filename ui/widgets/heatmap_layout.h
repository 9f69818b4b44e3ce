// Where the parts of a heatmap stand, and what the mouse does on them.
#pragma once

#include <imgui.h>

#include "base/skin.h"
#include "plain/matrix_text.h"
#include "widgets/heatmap_options.h"

namespace attnscope {

inline constexpr float label_slant = 50;  // degrees, of column labels wider than their cells

struct HeatmapLayout {
  ImVec2 origin;              // top left corner of everything
  ImVec2 body;                // of the cells in sight
  ImVec2 sight;               // their extent
  ImVec2 first;               // column and row of the first; fractions are of a cell
  ImVec2 cell;                // a cell's size
  float largest_scale = 1;    // of a zoom: closer, nothing more would be seen
  float row_labels = 0;       // left edge of the row labels
  float row_label_width = 0;  // the longest a label may be; longer ones are shortened
  float col_label_width = 0;
  float col_label_height = 0;
  bool slanted = false;  // column labels
  int row_stride = 1;    // every how many rows there is room for a label
  int col_stride = 1;
  float legend_x = 0;
  ImVec2 bars;         // left edge of the bars of rows, upper edge of those of columns
  ImVec2 bars_extent;  // width of the bars of rows, height of those of columns

  // Where that cell begins, in sight or not.
  ImVec2 corner(int row, int col) const {
    return {body.x + (static_cast<float>(col) - first.x) * cell.x,
            body.y + (static_cast<float>(row) - first.y) * cell.y};
  }
  ImVec2 end() const { return {body.x + sight.x, body.y + sight.y}; }
};

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options, ImVec2 origin, ImVec2 size,
                             const Skin& skin);

// The mouse points, chooses, zooms and pans: puts the invisible buttons there, changes options.zoom, and says what is
// under it.
HeatmapResult touch_heatmap(const Matrix& matrix, const HeatmapOptions& options, const HeatmapLayout& layout);

// Words have their font, numbers are smaller.
ImFont* label_font(const Skin& skin);

}  // namespace attnscope
