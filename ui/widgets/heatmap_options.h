// Drawing options of a heatmap, and the result of mouse input.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/pointed.h"
#include "common/color_map.h"

namespace attnscope {

// The visible part of a heatmap; persists between frames.
struct HeatmapZoom {
  float scale = 1;  // magnification relative to the scale at which all cells are visible
  float row = 0;    // the first visible cell; may be fractional
  float col = 0;
};

// Bars along an edge, one per row or column, with an aggregate of its cells.
struct HeatmapBars {
  std::span<const float> values;  // empty: no bars
  float high = 1;                 // the value of a full bar
  const char* name = "";
  const char* unit = "";
  const char* help = "";
};

struct HeatmapOptions {
  ColorMap map = ColorMap::viridis;
  float low = 0;                            // value of the map's first color
  float high = 1;                           // value of its last color
  std::string row_axis;                     // label of the row axis: "query (input)"
  std::string col_axis;                     // label of the column axis
  std::span<const std::string> row_labels;  // empty: numbers starting at first_row
  std::span<const std::string> col_labels;
  int second_row = -1;  // labels from here on belong to a second sentence and have another color; −1: none
  int second_col = -1;
  int first_row = 0;
  int first_col = 0;
  bool square = true;       // square cells; false: the matrix fills the space
  float stretch = 1;        // maximum aspect ratio of "square" cells, used where there is room
  bool mask_upper = false;  // cells right of the diagonal are hidden by the look-ahead mask (§3.2.3)
  bool legend = true;
  bool print_values = true;  // print values in cells that are large enough
  bool faint_zeros = false;  // print values that round to 0 faintly, where most cells are such
  int selected_row = -1;     // outlined
  int selected_col = -1;
  int pointed_row = -1;  // hover target in another picture; faintly outlined
  int pointed_col = -1;
  std::span<const int> marked_cols;      // also outlined
  HeatmapBars row_bars;                  // along the right edge
  HeatmapBars col_bars;                  // along the bottom edge
  HeatmapZoom* zoom = nullptr;           // changed by wheel, drag and double-click; null: all cells are visible
  HoverTarget thing = HoverTarget::map;  // hover target for the context menu
  const char* about = "";                // a label that the glossary may explain
  std::function<void(int row, int col)> tooltip;  // draws the tooltip's contents; empty: both labels and the value
};

struct HeatmapResult {
  int row = -1;  // the cell under the mouse; −1: none
  int col = -1;
  bool clicked = false;  // the cell was pressed and released without a drag
  bool double_clicked = false;
  bool menu_asked = false;  // the right button was pressed on the cell or the label
  int row_label = -1;       // the label or bar under the mouse, when no cell is
  int col_label = -1;
  bool label_clicked = false;
};

}  // namespace attnscope
