#include "widgets/heatmap_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

float longest_label(const ImFont* font, std::span<const std::string> labels, int count, int first) {
  float width = 0;
  for (int i = 0; i < count; ++i) {
    if (labels.empty() && i != 0 && i != count - 1) continue;  // numbers: one at an end is the longest
    width = std::max(width, text_size(font, label_of(labels, i, first).c_str()).x);
  }
  return width;
}

// Every how many cells a label of that extent fits; numbers go by round steps.
int stride(float cell, float extent, bool numbers) {
  const int least = std::max(1, static_cast<int>(std::ceil(extent / cell)));
  if (!numbers) return least;
  for (int decade = 1;; decade *= 10)
    for (const int step : {1, 2, 5})
      if (step * decade >= least) return step * decade;
}

ImVec2 cell_size(const Matrix& matrix, ImVec2 room, const HeatmapOptions& options, float largest) {
  ImVec2 cell{std::max(1.0F, room.x) / static_cast<float>(matrix.cols),
              std::max(1.0F, room.y) / static_cast<float>(matrix.rows)};
  if (!options.square) return cell;
  const float side = std::min({cell.x, cell.y, largest});
  const float longest = std::min(side * options.stretch, largest);
  cell = {std::clamp(cell.x, side, longest), std::clamp(cell.y, side, longest)};
  // Whole pixels: all cells alike.
  const auto whole = [](float length) { return length >= 6 ? std::floor(length) : length; };
  return {whole(cell.x), whole(cell.y)};
}

// What bars with their gap take beside and under the cells.
ImVec2 room_for_bars(const HeatmapOptions& options, const Skin& skin) {
  return {options.row_bars.values.empty() ? 0 : skin.px(50), options.col_bars.values.empty() ? 0 : skin.px(36)};
}

// Cells as large as the zoom has them, as many as there is room for, from its first on.
void look_closer(HeatmapLayout& layout, const Matrix& matrix, const HeatmapOptions& options, ImVec2 room,
                 const Skin& skin) {
  const auto count = ImVec2{static_cast<float>(matrix.cols), static_cast<float>(matrix.rows)};
  layout.sight = {layout.cell.x * count.x, layout.cell.y * count.y};
  if (!options.zoom) return;
  layout.largest_scale = std::max(1.0F, skin.px(64) / std::min(layout.cell.x, layout.cell.y));
  const float scale = std::clamp(options.zoom->scale, 1.0F, layout.largest_scale);
  if (scale <= 1) return;
  layout.cell = {layout.cell.x * scale, layout.cell.y * scale};
  // A thin strip grows; other than that the cells in sight keep their extent, or the wheel could not keep the cell
  // under the cursor.
  constexpr float share = 0.6F;
  layout.sight = {std::min(layout.cell.x * count.x, std::max(layout.sight.x, room.x * share)),
                  std::min(layout.cell.y * count.y, std::max(layout.sight.y, room.y * share))};
  const auto first = [](float wanted, float cells, float seen) {
    return std::clamp(wanted, 0.0F, std::max(0.0F, cells - seen));
  };
  layout.first = {first(options.zoom->col, count.x, layout.sight.x / layout.cell.x),
                  first(options.zoom->row, count.y, layout.sight.y / layout.cell.y)};
}

}  // namespace

ImFont* label_font(const Skin& skin) {
  return skin.fonts.mono_small;
}

std::string shortened(const ImFont* font, const std::string& text, float width) {
  if (text_size(font, text.c_str()).x <= width) return text;
  std::string result = text;
  while (!result.empty()) {
    unsigned char removed = 0;
    do {  // a whole character: continuation bytes, then the byte that began it
      removed = static_cast<unsigned char>(result.back());
      result.pop_back();
    } while ((removed & 0xC0U) == 0x80U && !result.empty());
    if (text_size(font, (result + "\u2026").c_str()).x <= width) break;
  }
  return result + "\u2026";
}

static float row_label_width(const Matrix& matrix, const HeatmapOptions& options, const Skin& skin) {
  const float labels = longest_label(label_font(skin), options.row_labels, matrix.rows, options.first_row);
  const HeatmapBars& beneath = options.col_bars;  // their name stands under the labels
  return beneath.values.empty() ? labels : std::max(labels, text_size(skin.fonts.small, beneath.name).x);
}

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options, ImVec2 origin, ImVec2 size,
                             const Skin& skin) {
  const ImFont* font = label_font(skin);
  const float line = font_size(font);
  const float radians = label_slant * std::numbers::pi_v<float> / 180;
  HeatmapLayout layout;
  layout.origin = origin;
  layout.title_height = options.title.empty() ? 0 : font_size(skin.fonts.bold) + skin.px(6);
  const float axis_height = options.col_axis.empty() ? 0 : font_size(skin.fonts.small) + skin.px(4);
  const float axis_width = options.row_axis.empty() ? 0 : font_size(skin.fonts.small) + skin.px(8);
  const float legend_width = options.legend ? skin.px(62) : 0;
  const ImVec2 bars = room_for_bars(options, skin);

  layout.row_label_width = std::min(row_label_width(matrix, options, skin), size.x * 0.3F);
  const float left = axis_width + layout.row_label_width + skin.px(10);
  layout.row_labels = origin.x + axis_width;
  const float longest_col = longest_label(font, options.col_labels, matrix.cols, options.first_col);

  // First as if column labels lay level; if they do not fit, slanted.
  const float above = layout.title_height + axis_height;
  const float level_height = line + skin.px(8);
  const float largest = skin.px(64);
  ImVec2 room{size.x - left - legend_width - bars.x - 1, size.y - above - level_height - bars.y - 1};
  layout.cell = cell_size(matrix, room, options, largest);
  layout.col_label_width = longest_col;
  float label_height = level_height;
  const bool numbers = options.col_labels.empty();
  layout.slanted = !numbers && longest_col + skin.px(4) > layout.cell.x;
  if (layout.slanted) {
    layout.col_label_width = std::min(longest_col, size.y * 0.3F);
    label_height = layout.col_label_width * std::sin(radians) + line + skin.px(4);
    const float overhang = std::max(0.0F, layout.col_label_width * std::cos(radians) - bars.x - legend_width * 0.8F);
    room = {size.x - left - legend_width - bars.x - overhang - 1, size.y - above - label_height - bars.y - 1};
    layout.cell = cell_size(matrix, room, options, largest);
  }
  layout.col_label_height = label_height;
  look_closer(layout, matrix, options, room, skin);
  layout.row_stride = stride(layout.cell.y, line, options.row_labels.empty());
  layout.col_stride =
      stride(layout.cell.x, layout.slanted ? line / std::sin(radians) : longest_col + skin.px(6), numbers);
  layout.body = {std::floor(origin.x + left), std::floor(origin.y + above + label_height)};
  const float gap = skin.px(6);
  layout.bars = {layout.end().x + gap, layout.end().y + gap};
  layout.bars_extent = {bars.x - gap, bars.y - gap};
  layout.legend_x = layout.end().x + bars.x + skin.px(12);
  return layout;
}

}  // namespace attnscope
