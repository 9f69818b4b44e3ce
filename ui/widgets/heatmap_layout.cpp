#include "widgets/heatmap_layout.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common/clamped.h"

namespace attnscope {
namespace {

float longest_label(const ImFont* font, std::span<const std::string> labels, int count, int first) {
  float width = 0;
  for (int i = 0; i < count; ++i) {
    if (labels.empty() && i != 0 && i != count - 1) continue;  // numbers: the first or the last is the longest
    width = std::max(width, text_size(font, label_of(labels, i, first)).x);
  }
  return width;
}

// Smallest stride at which a label of that extent fits; numbers use round strides.
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
  cell = {clamped(cell.x, side, longest), clamped(cell.y, side, longest)};
  // Whole pixels, so that all cells are equal.
  const auto whole = [](float length) { return length >= 6 ? std::floor(length) : length; };
  return {whole(cell.x), whole(cell.y)};
}

// Space for the bars and their gap, right of and below the cells.
ImVec2 room_for_bars(const HeatmapOptions& options, const Skin& skin) {
  return {options.row_bars.values.empty() ? 0 : skin.px(50), options.col_bars.values.empty() ? 0 : skin.px(36)};
}

// Applies the zoom: cells of the zoomed size, as many as fit, starting at its first cell.
void inspect_closely(HeatmapLayout& layout, const Matrix& matrix, const HeatmapOptions& options, ImVec2 room,
                     const Skin& skin) {
  const auto count = ImVec2{static_cast<float>(matrix.cols), static_cast<float>(matrix.rows)};
  layout.sight = {layout.cell.x * count.x, layout.cell.y * count.y};
  if (!options.zoom) return;
  layout.largest_scale = std::max(1.0F, skin.px(64) / std::min(layout.cell.x, layout.cell.y));
  const float scale = clamped(options.zoom->scale, 1.0F, layout.largest_scale);
  if (scale <= 1) return;
  layout.cell = {layout.cell.x * scale, layout.cell.y * scale};
  // A thin strip grows. Otherwise the visible cells keep their extent; if it changed, the wheel could not hold the cell
  // under the cursor.
  constexpr float share = 0.6F;
  layout.sight = {std::min(layout.cell.x * count.x, std::max(layout.sight.x, room.x * share)),
                  std::min(layout.cell.y * count.y, std::max(layout.sight.y, room.y * share))};
  const auto first = [](float wanted, float cells, float seen) {
    return clamped(wanted, 0.0F, std::max(0.0F, cells - seen));
  };
  layout.first = {first(options.zoom->col, count.x, layout.sight.x / layout.cell.x),
                  first(options.zoom->row, count.y, layout.sight.y / layout.cell.y)};
}

// ---- mouse and keyboard

int index_at(float pixel, float begin, float first, float cell, int count) {
  return clamped(static_cast<int>(std::floor(first + (pixel - begin) / cell)), 0, count - 1);
}

int row_at(float y, const HeatmapLayout& layout, int rows) {
  return index_at(y, layout.body.y, layout.first.y, layout.cell.y, rows);
}

int col_at(float x, const HeatmapLayout& layout, int cols) {
  return index_at(x, layout.body.x, layout.first.x, layout.cell.x, cols);
}

// An invisible mouse area. Returns true if it was pressed and released without a drag.
bool area(const char* id, ImVec2 low, ImVec2 high) {
  ImGui::SetCursorScreenPos(low);
  const bool pressed = ImGui::InvisibleButton(id, {std::max(1.0F, high.x - low.x), std::max(1.0F, high.y - low.y)});
  const ImGuiIO& io = ImGui::GetIO();
  return pressed && io.MouseDragMaxDistanceSqr[0] < io.MouseDragThreshold * io.MouseDragThreshold;
}

// Zooms with the wheel about the cursor.
void turn_wheel(HeatmapZoom& zoom, const HeatmapLayout& layout, float lines) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float scale = clamped(zoom.scale, 1.0F, layout.largest_scale);
  const float wanted = clamped(scale * std::pow(1.2F, lines), 1.0F, layout.largest_scale);
  const auto kept = [&](float first, float pixels, float cell) { return first + pixels / cell * (1 - scale / wanted); };
  zoom.col = kept(layout.first.x, mouse.x - layout.body.x, layout.cell.x);
  zoom.row = kept(layout.first.y, mouse.y - layout.body.y, layout.cell.y);
  zoom.scale = wanted;
}

// Applies to the cells, which were the last item.
void zoom_and_pan(HeatmapZoom& zoom, const HeatmapLayout& layout) {
  const ImGuiIO& io = ImGui::GetIO();
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) return turn_wheel(zoom, layout, io.MouseWheel);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    zoom = {};
    return;
  }
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(ImGuiMouseButton_Left) || zoom.scale <= 1) return;
  zoom.col = layout.first.x - io.MouseDelta.x / layout.cell.x;
  zoom.row = layout.first.y - io.MouseDelta.y / layout.cell.y;
}

void touch_cells(const Matrix& matrix, const HeatmapOptions& options, const HeatmapLayout& layout,
                 HeatmapResult& result) {
  const bool pressed = area("cells", layout.body, layout.end());
  if (options.zoom) zoom_and_pan(*options.zoom, layout);
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  result.row = row_at(mouse.y, layout, matrix.rows);
  result.col = col_at(mouse.x, layout, matrix.cols);
  // The second click of a double-click (reset) does not select the cell that is there now.
  result.menu_asked = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  result.clicked = pressed && !(options.zoom && ImGui::GetIO().MouseClickedLastCount[0] > 1);
  result.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
}

void touch_row_label(const char* id, ImVec2 low, ImVec2 high, const Matrix& matrix, const HeatmapLayout& layout,
                     HeatmapResult& result) {
  const bool pressed = area(id, low, high);
  if (!ImGui::IsItemHovered()) return;
  result.row_label = row_at(ImGui::GetIO().MousePos.y, layout, matrix.rows);
  result.menu_asked = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  result.label_clicked = pressed;
}

// Slanted labels extend to the right of their columns.
void touch_col_label(const char* id, ImVec2 low, ImVec2 high, bool slanted, const Matrix& matrix,
                     const HeatmapLayout& layout, HeatmapResult& result) {
  const bool pressed = area(id, low, high);
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float lean = slanted ? (layout.body.y - mouse.y) / std::tan(label_slant * std::numbers::pi_v<float> / 180) : 0;
  result.col_label = col_at(mouse.x - lean, layout, matrix.cols);
  result.menu_asked = ImGui::IsMouseClicked(ImGuiMouseButton_Right);
  result.label_clicked = pressed;
}

}  // namespace

ImFont* label_font(const Skin& skin) {
  return skin.fonts.mono_small;
}

static float row_label_width(const Matrix& matrix, const HeatmapOptions& options, const Skin& skin) {
  const float labels = longest_label(label_font(skin), options.row_labels, matrix.rows, options.first_row);
  const HeatmapBars& beneath = options.col_bars;  // their name is below the labels
  return beneath.values.empty() ? labels : std::max(labels, text_size(skin.fonts.small, beneath.name).x);
}

HeatmapLayout heatmap_layout(const Matrix& matrix, const HeatmapOptions& options, ImVec2 origin, ImVec2 size,
                             const Skin& skin) {
  const ImFont* font = label_font(skin);
  const float line = font_size(font);
  const float radians = label_slant * std::numbers::pi_v<float> / 180;
  HeatmapLayout layout;
  layout.origin = origin;
  const float axis_height = options.col_axis.empty() ? 0 : font_size(skin.fonts.small) + skin.px(4);
  const float axis_width = options.row_axis.empty() ? 0 : font_size(skin.fonts.small) + skin.px(8);
  const float legend_width = options.legend ? skin.px(62) : 0;
  const ImVec2 bars = room_for_bars(options, skin);

  layout.row_label_width = std::min(row_label_width(matrix, options, skin), size.x * 0.3F);
  const float left = axis_width + layout.row_label_width + skin.px(10);
  layout.row_labels = origin.x + axis_width;
  const float longest_col = longest_label(font, options.col_labels, matrix.cols, options.first_col);

  // Tries horizontal column labels first; if they do not fit, slants them.
  const float level_height = line + skin.px(8);
  const float largest = skin.px(64);
  ImVec2 room{size.x - left - legend_width - bars.x - 1, size.y - axis_height - level_height - bars.y - 1};
  layout.cell = cell_size(matrix, room, options, largest);
  layout.col_label_width = longest_col;
  float label_height = level_height;
  const bool numbers = options.col_labels.empty();
  layout.slanted = !numbers && longest_col + skin.px(4) > layout.cell.x;
  if (layout.slanted) {
    layout.col_label_width = std::min(longest_col, size.y * 0.3F);
    label_height = layout.col_label_width * std::sin(radians) + line + skin.px(4);
    const float overhang = std::max(0.0F, layout.col_label_width * std::cos(radians) - bars.x - legend_width * 0.8F);
    room = {size.x - left - legend_width - bars.x - overhang - 1, size.y - axis_height - label_height - bars.y - 1};
    layout.cell = cell_size(matrix, room, options, largest);
  }
  layout.col_label_height = label_height;
  inspect_closely(layout, matrix, options, room, skin);
  layout.row_stride = stride(layout.cell.y, line, options.row_labels.empty());
  layout.col_stride =
      stride(layout.cell.x, layout.slanted ? line / std::sin(radians) : longest_col + skin.px(6), numbers);
  layout.body = {std::floor(origin.x + left), std::floor(origin.y + axis_height + label_height)};
  const float gap = skin.px(6);
  layout.bars = {layout.end().x + gap, layout.end().y + gap};
  layout.bars_extent = {bars.x - gap, bars.y - gap};
  layout.legend_x = layout.end().x + bars.x + skin.px(12);
  return layout;
}

// ---- mouse and keyboard

HeatmapResult touch_heatmap(const Matrix& matrix, const HeatmapOptions& options, const HeatmapLayout& layout) {
  HeatmapResult result;
  const ImVec2 end = layout.end();
  touch_cells(matrix, options, layout, result);
  touch_row_label("rows", {layout.row_labels, layout.body.y}, {layout.body.x, end.y}, matrix, layout, result);
  const float labels = layout.body.y - layout.col_label_height;
  touch_col_label("cols", {layout.body.x, labels}, {end.x, layout.body.y}, layout.slanted, matrix, layout, result);
  if (!options.row_bars.values.empty())
    touch_row_label("row bars", {layout.bars.x, layout.body.y}, {layout.bars.x + layout.bars_extent.x, end.y}, matrix,
                    layout, result);
  if (!options.col_bars.values.empty())
    touch_col_label("col bars", {layout.body.x, layout.bars.y}, {end.x, layout.bars.y + layout.bars_extent.y}, false,
                    matrix, layout, result);
  return result;
}

}  // namespace attnscope
