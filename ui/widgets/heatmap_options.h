// What a heatmap is drawn with, and what the mouse did on it.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/color_map.h"
#include "base/pointed.h"

namespace attnscope {

// What of a heatmap is looked at, remembered from frame to frame.
struct HeatmapZoom {
  float scale = 1;  // cells are so many times larger than those with which all is seen
  float row = 0;    // the first cell in sight; fractions are of a cell
  float col = 0;
};

// A bar a row or a column along an edge: what the cells of each come to.
struct HeatmapBars {
  std::span<const float> values;  // none: no bars
  float high = 1;                 // value of a full bar
  const char* name = "";
  const char* unit = "";
  const char* help = "";
};

struct HeatmapOptions {
  ColorMap map = ColorMap::viridis;
  float low = 0;                            // value of the map's first colour
  float high = 1;                           // value of its last
  std::string row_axis;                     // what a row is: "query (written so far)"
  std::string col_axis;                     // what a column is
  std::span<const std::string> row_labels;  // empty: numbers from first_row on
  std::span<const std::string> col_labels;
  int first_row = 0;
  int first_col = 0;
  bool square = true;       // cells as wide as high; otherwise the matrix fills the space
  float stretch = 1;        // of square cells: may be so many times longer than wide where the space is
  bool mask_upper = false;  // cells right of the diagonal are hidden by the look-ahead mask (§3.2.3)
  bool legend = true;
  bool print_values = true;  // in cells that are large enough
  int selected_row = -1;     // outlined
  int selected_col = -1;
  int pointed_row = -1;  // pointed at elsewhere: outlined faintly
  int pointed_col = -1;
  std::span<const int> marked_cols;               // outlined as well
  HeatmapBars row_bars;                           // along the right edge
  HeatmapBars col_bars;                           // along the bottom edge
  HeatmapZoom* zoom = nullptr;                    // wheel, drag and double-click change it; null: all is always seen
  HoverTarget thing = HoverTarget::map;           // for the right button
  const char* about = "";                         // a label that the glossary may explain
  std::function<void(int row, int col)> tooltip;  // draws what the tooltip says; empty: both labels and the value
};

struct HeatmapResult {
  int row = -1;  // the cell under the mouse; −1: none
  int col = -1;
  bool clicked = false;  // the cell: pressed and let go without a drag
  bool double_clicked = false;
  bool menu_asked = false;  // the right button went down on the cell or the label
  int row_label = -1;       // the label or bar under the mouse, which is at no cell then
  int col_label = -1;
  bool label_clicked = false;
};

}  // namespace attnscope
