#include "widgets/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "widgets/heatmap_layout.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

bool is_masked(const HeatmapOptions& options, int row, int col) {
  return options.mask_upper && col > row;
}

std::uint64_t mixed_hash(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x9E3779B97F4A7C15ULL + (hash >> 29);
}

struct Coloring {
  ColorMap map;
  float low, high;
  bool mask_upper;
  Color32 masked;
};

Color32 cell_color(const Coloring& coloring, float value) {
  if (std::isnan(value)) return coloring.masked;
  const float range = coloring.high - coloring.low;
  return map_color(coloring.map, range > 0 ? (value - coloring.low) / range : 0.5F);
}

void paint_matrix(Painter& paint, ImVec2 low, ImVec2 high, const Matrix& matrix, std::uint64_t version,
                  const Coloring& coloring, TextureStore& textures) {
  std::uint64_t stamp = mixed_hash(version, static_cast<std::uint64_t>(coloring.map));
  stamp = mixed_hash(stamp, std::hash<float>{}(coloring.low));
  stamp = mixed_hash(stamp, std::hash<float>{}(coloring.high));
  stamp = mixed_hash(stamp, coloring.mask_upper ? coloring.masked : 0);
  const TextureStore::Fill fill = [&](std::span<std::uint32_t> rgba) {
    for (int row = 0; row < matrix.rows; ++row)
      for (int col = 0; col < matrix.cols; ++col)
        rgba[static_cast<std::size_t>(row) * matrix.cols + col] =
            coloring.mask_upper && col > row ? coloring.masked : cell_color(coloring, matrix.at(row, col));
  };
  const TextureId texture = textures.texture(ImGui::GetID("picture"), stamp, matrix.cols, matrix.rows, fill);
  paint.cells(texture, low, high, matrix.cols, matrix.rows, fill);
}

// One heatmap while it is being drawn.
struct Canvas {
  const Matrix& matrix;
  const HeatmapOptions& options;
  const Look& look;
  HeatmapLayout layout;
  Painter& paint;
  Coloring coloring;

  ImVec2 corner(int row, int col) const {
    return {layout.body.x + static_cast<float>(col) * layout.cell.x,
            layout.body.y + static_cast<float>(row) * layout.cell.y};
  }
};

void draw_grid(const Canvas& canvas) {
  if (std::min(canvas.layout.cell.x, canvas.layout.cell.y) < canvas.look.px(10)) return;
  const Color32 line = faded(canvas.look.theme.background, 0.45F);
  const ImVec2 end = canvas.corner(canvas.matrix.rows, canvas.matrix.cols);
  for (int row = 1; row < canvas.matrix.rows; ++row) {
    const ImVec2 at = canvas.corner(row, 0);
    canvas.paint.line(at, {end.x, at.y}, line);
  }
  for (int col = 1; col < canvas.matrix.cols; ++col) {
    const ImVec2 at = canvas.corner(0, col);
    canvas.paint.line(at, {at.x, end.y}, line);
  }
}

// A stroke through every hidden cell, where there is room for it.
void draw_mask(const Canvas& canvas) {
  const ImVec2 cell = canvas.layout.cell;
  if (!canvas.options.mask_upper || std::min(cell.x, cell.y) < canvas.look.px(8)) return;
  for (int row = 0; row < canvas.matrix.rows; ++row)
    for (int col = row + 1; col < canvas.matrix.cols; ++col) {
      const ImVec2 at = canvas.corner(row, col);
      canvas.paint.line({at.x + cell.x * 0.3F, at.y + cell.y * 0.7F}, {at.x + cell.x * 0.7F, at.y + cell.y * 0.3F},
                        canvas.look.theme.border);
    }
}

void draw_values(const Canvas& canvas) {
  const ImVec2 cell = canvas.layout.cell;
  ImFont* font = canvas.look.fonts.mono_small;
  if (!canvas.options.print_values || cell.y < font_size(font) * 1.2F || cell.x < text_size(font, "-0.00").x) return;
  for (int row = 0; row < canvas.matrix.rows; ++row)
    for (int col = 0; col < canvas.matrix.cols; ++col) {
      if (is_masked(canvas.options, row, col)) continue;
      const float value = canvas.matrix.at(row, col);
      const std::string text = fmt::format("{:.2f}", value);
      const ImVec2 extent = text_size(font, text.c_str());
      const ImVec2 at = canvas.corner(row, col);
      canvas.paint.text(font, {at.x + (cell.x - extent.x) / 2, at.y + (cell.y - extent.y) / 2},
                        faded(text_on(cell_color(canvas.coloring, value)), 0.9F), text);
    }
}

Color32 label_color(const Canvas& canvas, bool hovered, bool selected) {
  if (hovered) return canvas.look.theme.text;
  return selected ? canvas.look.theme.accent : mixed(canvas.look.theme.text_dim, canvas.look.theme.text, 0.5F);
}

// Where not all labels have room: every so many, but those of the hovered and the selected cell always; these push
// their neighbours aside.
bool shows_label(int index, int first, int stride, int hovered, int selected) {
  const auto crowds = [&](int special) { return special >= 0 && std::abs(index - special) < stride; };
  if (index == hovered) return true;
  if (crowds(hovered)) return false;
  if (index == selected) return true;
  return (first + index) % stride == 0 && !crowds(selected);
}

void draw_row_labels(const Canvas& canvas, int hovered) {
  const HeatmapLayout& layout = canvas.layout;
  ImFont* font = label_font(canvas.look);
  for (int row = 0; row < canvas.matrix.rows; ++row) {
    if (!shows_label(row, canvas.options.first_row, layout.row_stride, hovered, canvas.options.selected_row)) continue;
    const std::string text =
        shortened(font, label_of(canvas.options.row_labels, row, canvas.options.first_row), layout.row_label_width);
    const ImVec2 extent = text_size(font, text.c_str());
    const float y = canvas.corner(row, 0).y + (layout.cell.y - extent.y) / 2;
    canvas.paint.text(font, {layout.body.x - canvas.look.px(6) - extent.x, y},
                      label_color(canvas, row == hovered, row == canvas.options.selected_row), text);
  }
}

void draw_col_labels(const Canvas& canvas, int hovered) {
  const HeatmapLayout& layout = canvas.layout;
  ImFont* font = label_font(canvas.look);
  for (int col = 0; col < canvas.matrix.cols; ++col) {
    if (!shows_label(col, canvas.options.first_col, layout.col_stride, hovered, canvas.options.selected_col)) continue;
    const Color32 color = label_color(canvas, col == hovered, col == canvas.options.selected_col);
    const std::string text =
        shortened(font, label_of(canvas.options.col_labels, col, canvas.options.first_col), layout.col_label_width);
    const float middle = layout.body.x + (static_cast<float>(col) + 0.5F) * layout.cell.x;
    if (layout.slanted) {
      canvas.paint.slanted_text(font, {middle, layout.body.y - canvas.look.px(7)}, label_slant, color, text);
    } else {
      const ImVec2 extent = text_size(font, text.c_str());
      canvas.paint.text(font, {middle - extent.x / 2, layout.body.y - extent.y - canvas.look.px(4)}, color, text);
    }
  }
}

void draw_titles(const Canvas& canvas) {
  const HeatmapLayout& layout = canvas.layout;
  const Look& look = canvas.look;
  float y = layout.origin.y;
  if (!canvas.options.title.empty()) {
    canvas.paint.text(look.fonts.bold, {layout.origin.x, y}, look.theme.text, canvas.options.title);
    y += layout.title_height;
  }
  if (!canvas.options.col_axis.empty())
    canvas.paint.text(look.fonts.small, {layout.body.x, y}, look.theme.text_dim, canvas.options.col_axis);
  if (!canvas.options.row_axis.empty()) {
    const float length = text_size(look.fonts.small, canvas.options.row_axis.c_str()).x;
    const float body_height = layout.cell.y * static_cast<float>(canvas.matrix.rows);
    canvas.paint.slanted_text(
        look.fonts.small,
        {layout.origin.x + font_size(look.fonts.small) / 2, layout.body.y + (body_height + length) / 2}, 90,
        look.theme.text_dim, canvas.options.row_axis);
  }
}

void draw_selection(const Canvas& canvas, const HeatmapResult& result) {
  const float line = canvas.look.px(2);
  const Color32 accent = canvas.look.theme.accent;
  const int rows = canvas.matrix.rows;
  const int cols = canvas.matrix.cols;
  // Leaves narrow cells to be seen.
  const auto outline = [&](ImVec2 low, ImVec2 high, float cell) {
    canvas.paint.rect(low, high, accent, 0, std::clamp(cell * 0.3F, 1.0F, line));
  };
  const auto outline_col = [&](int col) {
    if (col >= 0 && col < cols) outline(canvas.corner(0, col), canvas.corner(rows, col + 1), canvas.layout.cell.x);
  };
  outline_col(canvas.options.selected_col);
  for (const int col : canvas.options.marked_cols) outline_col(col);
  const int row = canvas.options.selected_row;
  if (row >= 0 && row < rows) outline(canvas.corner(row, 0), canvas.corner(row + 1, cols), canvas.layout.cell.y);
  if (result.row < 0) return;
  const Color32 fill = is_masked(canvas.options, result.row, result.col)
                           ? canvas.look.theme.masked
                           : cell_color(canvas.coloring, canvas.matrix.at(result.row, result.col));
  canvas.paint.rect(canvas.corner(result.row, result.col), canvas.corner(result.row + 1, result.col + 1), text_on(fill),
                    0, std::max(1.0F, line * 0.75F));
}

void default_tooltip(const Canvas& canvas, int row, int col) {
  {
    WithFont mono(canvas.look.fonts.mono);
    ImGui::Text("%s \u2192 %s", label_of(canvas.options.row_labels, row, canvas.options.first_row).c_str(),
                label_of(canvas.options.col_labels, col, canvas.options.first_col).c_str());
  }
  if (is_masked(canvas.options, row, col))
    ImGui::TextDisabled("masked: look-ahead (\u00A73.2.3)");
  else
    ImGui::Text("%.6g", static_cast<double>(canvas.matrix.at(row, col)));
}

HeatmapResult interact(const Canvas& canvas) {
  HeatmapResult result;
  ImGui::SetCursorScreenPos(canvas.layout.body);
  const ImVec2 end = canvas.corner(canvas.matrix.rows, canvas.matrix.cols);
  ImGui::InvisibleButton("cells",
                         {std::max(1.0F, end.x - canvas.layout.body.x), std::max(1.0F, end.y - canvas.layout.body.y)});
  if (!ImGui::IsItemHovered()) return result;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  result.col =
      std::clamp(static_cast<int>((mouse.x - canvas.layout.body.x) / canvas.layout.cell.x), 0, canvas.matrix.cols - 1);
  result.row =
      std::clamp(static_cast<int>((mouse.y - canvas.layout.body.y) / canvas.layout.cell.y), 0, canvas.matrix.rows - 1);
  result.clicked = ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  result.double_clicked = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
  ImGui::BeginTooltip();
  if (canvas.options.tooltip)
    canvas.options.tooltip(result.row, result.col);
  else
    default_tooltip(canvas, result.row, result.col);
  ImGui::EndTooltip();
  return result;
}

}  // namespace

HeatmapResult draw_heatmap(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                           const HeatmapOptions& options, TextureStore& textures, const Look& look) {
  size = room_for(size);
  if (matrix.empty()) {
    draw_quiet_note("nothing to show yet", size, look);
    return {};
  }
  ImGui::PushID(id);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(look);
  const Canvas canvas{matrix, options,
                      look,   heatmap_layout(matrix, options, origin, size, look),
                      paint,  {options.map, options.low, options.high, options.mask_upper, look.theme.masked}};
  const ImVec2 end = canvas.corner(matrix.rows, matrix.cols);
  paint_matrix(paint, canvas.layout.body, end, matrix, version, canvas.coloring, textures);
  const HeatmapResult result = interact(canvas);

  paint.push_clip(origin, {origin.x + size.x, origin.y + size.y});
  draw_mask(canvas);
  draw_grid(canvas);
  draw_values(canvas);
  paint.rect(canvas.layout.body, end, look.theme.border);
  draw_selection(canvas, result);
  draw_titles(canvas);
  draw_row_labels(canvas, result.row);
  draw_col_labels(canvas, result.col);
  if (options.legend) {
    ImGui::SetCursorScreenPos({canvas.layout.legend_x, canvas.layout.body.y});
    const float height = std::min(look.px(160), end.y - canvas.layout.body.y);
    draw_legend(options.map, options.low, options.high, {look.px(12), std::max(height, look.px(40))}, look);
  }
  paint.pop_clip();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
  ImGui::PopID();
  return result;
}

float heatmap_height(const Matrix& matrix, const HeatmapOptions& options, ImVec2 size, const Look& look) {
  if (matrix.empty()) return size.y;
  const HeatmapLayout layout = heatmap_layout(matrix, options, {0, 0}, size, look);
  const float cells = layout.cell.y * static_cast<float>(matrix.rows);
  const float legend = options.legend ? look.px(40) : 0;
  return std::min(size.y, layout.body.y + std::max(cells, legend) + 1);
}

bool draw_thumbnail(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                    const ThumbnailOptions& options, TextureStore& textures, const Look& look) {
  size = room_for(size);
  ImGui::PushID(id);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + size.x, low.y + size.y};
  const bool pressed = ImGui::InvisibleButton("thumbnail", size);
  Painter paint(look);
  if (matrix.empty()) {
    paint.filled_rect(low, high, look.theme.masked);
  } else if (ImGui::IsItemVisible()) {
    const Coloring coloring{options.map, options.low, options.high, options.mask_upper, look.theme.masked};
    paint_matrix(paint, low, high, matrix, version, coloring, textures);
  }
  const bool focused = ImGui::GetIO().NavVisible && ImGui::IsItemFocused();
  const float out = look.px(2);
  if (options.selected || focused)
    paint.rect({low.x - out, low.y - out}, {high.x + out, high.y + out}, look.theme.accent, look.px(2), look.px(2));
  else if (ImGui::IsItemHovered())
    paint.rect({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1}, look.theme.text);
  ImGui::PopID();
  return pressed;
}

ImVec2 room_for(ImVec2 size) {
  const ImVec2 region = ImGui::GetContentRegionAvail();
  return {std::max(1.0F, size.x > 0 ? size.x : region.x + size.x),
          std::max(1.0F, size.y > 0 ? size.y : region.y + size.y)};
}

void draw_quiet_note(const char* text, ImVec2 size, const Look& look) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImFont* font = look.fonts.ui;
  const float wrap = std::max(1.0F, std::min(size.x, look.px(560)));
  const std::vector<std::string_view> lines = wrapped_lines(font, text, wrap);
  ImVec2 extent{0, font_size(font) * static_cast<float>(lines.size())};
  for (const std::string_view line : lines)
    extent.x = std::max(extent.x, text_size(font, line.data(), line.data() + line.size()).x);
  ImVec2 at{origin.x + std::max(0.0F, std::floor((size.x - extent.x) / 2)),
            origin.y + std::max(0.0F, std::floor((size.y - extent.y) / 2))};
  Painter paint(look);
  for (const std::string_view line : lines) {
    paint.text(font, at, look.theme.text_dim, line);
    at.y += font_size(font);
  }
  ImGui::Dummy(size);
}

}  // namespace attnscope
