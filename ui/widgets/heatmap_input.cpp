#include "widgets/heatmap_input.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

int index_at(float pixel, float begin, float first, float cell, int count) {
  return std::clamp(static_cast<int>(std::floor(first + (pixel - begin) / cell)), 0, count - 1);
}

int row_at(float y, const HeatmapLayout& layout, int rows) {
  return index_at(y, layout.body.y, layout.first.y, layout.cell.y, rows);
}

int col_at(float x, const HeatmapLayout& layout, int cols) {
  return index_at(x, layout.body.x, layout.first.x, layout.cell.x, cols);
}

// An area that hears the mouse. True when it was pressed and let go again without a drag.
bool area(const char* id, ImVec2 low, ImVec2 high) {
  ImGui::SetCursorScreenPos(low);
  const bool pressed = ImGui::InvisibleButton(id, {std::max(1.0F, high.x - low.x), std::max(1.0F, high.y - low.y)});
  const ImGuiIO& io = ImGui::GetIO();
  return pressed && io.MouseDragMaxDistanceSqr[0] < io.MouseDragThreshold * io.MouseDragThreshold;
}

// The wheel keeps what is under the cursor where it is.
void turn_wheel(HeatmapZoom& zoom, const HeatmapLayout& layout, float lines) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float scale = std::clamp(zoom.scale, 1.0F, layout.largest_scale);
  const float wanted = std::clamp(scale * std::pow(1.2F, lines), 1.0F, layout.largest_scale);
  const auto kept = [&](float first, float pixels, float cell) { return first + pixels / cell * (1 - scale / wanted); };
  zoom.col = kept(layout.first.x, mouse.x - layout.body.x, layout.cell.x);
  zoom.row = kept(layout.first.y, mouse.y - layout.body.y, layout.cell.y);
  zoom.scale = wanted;
}

// For the cells, which were the last item.
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
  // The second click of a double-click, which showed all again, is none on the cell that is there now.
  result.clicked = pressed && !(options.zoom && ImGui::GetIO().MouseClickedLastCount[0] > 1);
  result.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
}

void touch_row_label(const char* id, ImVec2 low, ImVec2 high, const Matrix& matrix, const HeatmapLayout& layout,
                     HeatmapResult& result) {
  const bool pressed = area(id, low, high);
  if (!ImGui::IsItemHovered()) return;
  result.row_label = row_at(ImGui::GetIO().MousePos.y, layout, matrix.rows);
  result.label_clicked = pressed;
}

// Slanted labels lean to the right of their columns.
void touch_col_label(const char* id, ImVec2 low, ImVec2 high, bool slanted, const Matrix& matrix,
                     const HeatmapLayout& layout, HeatmapResult& result) {
  const bool pressed = area(id, low, high);
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float lean = slanted ? (layout.body.y - mouse.y) / std::tan(label_slant * std::numbers::pi_v<float> / 180) : 0;
  result.col_label = col_at(mouse.x - lean, layout, matrix.cols);
  result.label_clicked = pressed;
}

}  // namespace

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
