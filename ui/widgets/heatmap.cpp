#include "widgets/heatmap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <span>
#include <vector>

#include "base/pointed.h"
#include "base/terms.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap_layout.h"
#include "widgets/heatmap_picture.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// The state of drawing one heatmap.
struct HeatmapCanvas {
  const Matrix& matrix;
  const HeatmapOptions& options;
  const Skin& skin;
  HeatmapLayout layout;
  Painter& paint;
  Coloring coloring;

  ImVec2 corner(int row, int col) const { return layout.corner(row, col); }
};

bool is_masked(const HeatmapCanvas& canvas, int row, int col) {
  return (canvas.options.mask_upper && col > row) || std::isinf(canvas.matrix.at(row, col));
}

// The visible range of rows or columns, possibly partial.
struct Sight {
  int begin = 0;
  int end = 0;
};

Sight sight(float first, float extent, float cell, int count) {
  const int begin = clamped(static_cast<int>(first), 0, count);
  return {begin, clamped(static_cast<int>(std::ceil(first + extent / cell)), begin, count)};
}

Sight rows_in_sight(const HeatmapCanvas& canvas) {
  return sight(canvas.layout.first.y, canvas.layout.sight.y, canvas.layout.cell.y, canvas.matrix.rows);
}

Sight cols_in_sight(const HeatmapCanvas& canvas) {
  return sight(canvas.layout.first.x, canvas.layout.sight.x, canvas.layout.cell.x, canvas.matrix.cols);
}

void draw_grid(const HeatmapCanvas& canvas) {
  if (std::min(canvas.layout.cell.x, canvas.layout.cell.y) < canvas.skin.px(10)) return;
  const Color32 line = faded(canvas.skin.theme.background, 0.45F);
  const ImVec2 low = canvas.layout.body;
  const ImVec2 end = canvas.layout.end();
  const Sight rows = rows_in_sight(canvas);
  for (int row = rows.begin + 1; row < rows.end; ++row) {
    const float y = canvas.corner(row, 0).y;
    canvas.paint.line({low.x, y}, {end.x, y}, line);
  }
  const Sight cols = cols_in_sight(canvas);
  for (int col = cols.begin + 1; col < cols.end; ++col) {
    const float x = canvas.corner(0, col).x;
    canvas.paint.line({x, low.y}, {x, end.y}, line);
  }
}

// Draws a stroke through every hidden cell, if there is room.
void draw_mask(const HeatmapCanvas& canvas) {
  const ImVec2 cell = canvas.layout.cell;
  if (!canvas.options.mask_upper || std::min(cell.x, cell.y) < canvas.skin.px(8)) return;
  const Sight rows = rows_in_sight(canvas);
  const Sight cols = cols_in_sight(canvas);
  for (int row = rows.begin; row < rows.end; ++row)
    for (int col = std::max(row + 1, cols.begin); col < cols.end; ++col) {
      const ImVec2 at = canvas.corner(row, col);
      canvas.paint.line({at.x + cell.x * 0.3F, at.y + cell.y * 0.7F}, {at.x + cell.x * 0.7F, at.y + cell.y * 0.3F},
                        canvas.skin.theme.border);
    }
}

// True for IDs and counts. Weights stay weights even if all are 0 or 1.
bool holds_whole_numbers(const Matrix& matrix) {
  const auto whole = [](float value) { return value == std::round(value); };
  const auto beyond_one = [](float value) { return std::abs(value) > 1; };
  return std::ranges::all_of(matrix.values, whole) && std::ranges::any_of(matrix.values, beyond_one);
}

void draw_values(const HeatmapCanvas& canvas) {
  const ImVec2 cell = canvas.layout.cell;
  ImFont* font = canvas.skin.fonts.mono_small;
  if (!canvas.options.print_values || cell.y < font_size(font) * 1.2F) return;
  const int digits = holds_whole_numbers(canvas.matrix) ? 0 : 2;
  const auto text_of = [&](float value) {
    return fmt::format("{:.{}f}", std::abs(value) < 0.005F ? 0.0F : value, digits);  // avoids "-0.00"
  };
  const auto fits = [&](float value) { return text_size(font, text_of(value)).x + canvas.skin.px(3) <= cell.x; };
  if (!fits(canvas.options.low) || !fits(canvas.options.high)) return;
  const auto is_faint = [&](float value) { return canvas.options.faint_zeros && std::abs(value) < 0.005F; };
  const Sight rows = rows_in_sight(canvas);
  const Sight cols = cols_in_sight(canvas);
  for (int row = rows.begin; row < rows.end; ++row)
    for (int col = cols.begin; col < cols.end; ++col) {
      if (is_masked(canvas, row, col)) continue;
      const float value = canvas.matrix.at(row, col);
      if (std::isnan(value)) continue;
      const std::string text = text_of(value);
      const ImVec2 extent = text_size(font, text);
      const ImVec2 at = canvas.corner(row, col);
      canvas.paint.text(font, {at.x + (cell.x - extent.x) / 2, at.y + (cell.y - extent.y) / 2},
                        faded(text_on(cell_color(canvas.coloring, value)), is_faint(value) ? 0.25F : 0.9F), text);
    }
}

bool is_second(int second, int index) {
  return second >= 0 && index >= second;
}

Color32 label_color(const HeatmapCanvas& canvas, bool hovered, bool selected, bool second) {
  const Theme& theme = canvas.skin.theme;
  const Color32 own = second ? second_sentence_color(theme) : theme.text;
  if (hovered) return own;
  return selected ? theme.accent : mixed(theme.text_dim, own, second ? 0.8F : 0.5F);
}

// The informative cells of the selected row or column, in descending order.
std::vector<int> telling(int selected, int count, const std::function<float(int)>& value, float high) {
  constexpr float least = 0.1F;  // relative to the value drawn at full strength
  constexpr std::size_t most = 8;
  std::vector<int> found;
  if (selected < 0) return found;
  for (int i = 0; i < count; ++i)
    if (std::isfinite(value(i)) && std::abs(value(i)) >= least * high) found.push_back(i);
  std::ranges::stable_sort(found, std::ranges::greater(), [&](int i) { return std::abs(value(i)); });
  found.resize(std::min(found.size(), most));
  return found;
}

// Chooses labels when not all fit: those of the hovered and the selected cell, then those of the largest cells of the
// selected row or column, then a regular subsample of the others.
class LabelChoice {
 public:
  LabelChoice(int count, int stride) : shown_(static_cast<std::size_t>(count)), stride_(stride) {}

  void show(int index) {
    if (index < 0 || index >= static_cast<int>(shown_.size()) || crowds(index)) return;
    shown_[static_cast<std::size_t>(index)] = true;
  }
  void show_every_so_many(int first) {
    for (int i = 0; i < static_cast<int>(shown_.size()); ++i)
      if ((first + i) % stride_ == 0) show(i);
  }
  bool shows(int index) const { return shown_[static_cast<std::size_t>(index)]; }

 private:
  bool crowds(int index) const {
    const int last = std::min(static_cast<int>(shown_.size()) - 1, index + stride_ - 1);
    for (int i = std::max(0, index - stride_ + 1); i <= last; ++i)
      if (shows(i)) return true;
    return false;
  }

  std::vector<bool> shown_;
  int stride_;
};

LabelChoice chosen_labels(LabelChoice choice, int hovered, int selected, int first, std::span<const int> telling) {
  choice.show(hovered);
  choice.show(selected);
  for (const int index : telling) choice.show(index);
  choice.show_every_so_many(first);
  return choice;
}

LabelChoice row_labels(const HeatmapCanvas& canvas, int hovered) {
  const Matrix& matrix = canvas.matrix;
  const HeatmapOptions& options = canvas.options;
  const int col = options.selected_col < matrix.cols ? options.selected_col : -1;
  const auto told = telling(
      col, matrix.rows, [&](int row) { return matrix.at(row, col); }, options.high);
  return chosen_labels({matrix.rows, canvas.layout.row_stride}, hovered, options.selected_row, options.first_row, told);
}

LabelChoice col_labels(const HeatmapCanvas& canvas, int hovered) {
  const Matrix& matrix = canvas.matrix;
  const HeatmapOptions& options = canvas.options;
  const int row = options.selected_row < matrix.rows ? options.selected_row : -1;
  const auto told = telling(
      row, matrix.cols, [&](int col) { return matrix.at(row, col); }, options.high);
  return chosen_labels({matrix.cols, canvas.layout.col_stride}, hovered, options.selected_col, options.first_col, told);
}

void draw_row_labels(const HeatmapCanvas& canvas, int hovered) {
  const HeatmapLayout& layout = canvas.layout;
  ImFont* font = label_font(canvas.skin);
  const Sight rows = rows_in_sight(canvas);
  const LabelChoice labels = row_labels(canvas, hovered);
  for (int row = rows.begin; row < rows.end; ++row) {
    if (!labels.shows(row)) continue;
    const std::string text =
        shortened(font, label_of(canvas.options.row_labels, row, canvas.options.first_row), layout.row_label_width);
    const ImVec2 extent = text_size(font, text);
    const float y = canvas.corner(row, 0).y + (layout.cell.y - extent.y) / 2;
    const float middle = y + extent.y / 2;
    if (middle < layout.body.y || middle > layout.end().y) continue;
    canvas.paint.text(font, {layout.body.x - canvas.skin.px(6) - extent.x, y},
                      label_color(canvas, row == hovered, row == canvas.options.selected_row,
                                  is_second(canvas.options.second_row, row)),
                      text);
  }
}

void draw_col_labels(const HeatmapCanvas& canvas, int hovered) {
  const HeatmapLayout& layout = canvas.layout;
  ImFont* font = label_font(canvas.skin);
  const Sight cols = cols_in_sight(canvas);
  const LabelChoice labels = col_labels(canvas, hovered);
  for (int col = cols.begin; col < cols.end; ++col) {
    if (!labels.shows(col)) continue;
    const Color32 color = label_color(canvas, col == hovered, col == canvas.options.selected_col,
                                      is_second(canvas.options.second_col, col));
    const std::string text =
        shortened(font, label_of(canvas.options.col_labels, col, canvas.options.first_col), layout.col_label_width);
    const float middle = canvas.corner(0, col).x + layout.cell.x / 2;
    if (middle < layout.body.x || middle > layout.end().x) continue;
    if (layout.slanted) {
      canvas.paint.slanted_text(font, {middle, layout.body.y - canvas.skin.px(7)}, label_slant, color, text);
    } else {
      const ImVec2 extent = text_size(font, text);
      canvas.paint.text(font, {middle - extent.x / 2, layout.body.y - extent.y - canvas.skin.px(4)}, color, text);
    }
  }
}

void draw_axes(const HeatmapCanvas& canvas) {
  const HeatmapLayout& layout = canvas.layout;
  const Skin& skin = canvas.skin;
  if (!canvas.options.col_axis.empty())
    canvas.paint.text(skin.fonts.small, {layout.body.x, layout.origin.y}, skin.theme.text_dim, canvas.options.col_axis);
  if (!canvas.options.row_axis.empty()) {
    // Below the name of the other axis; if there are few rows, starts next to the column labels.
    ImFont* font = skin.fonts.small;
    const std::string name =
        shortened(font, canvas.options.row_axis, layout.end().y - layout.origin.y - font_size(font) - skin.px(4));
    const float bottom = std::min(layout.end().y, layout.body.y + (layout.sight.y + text_size(font, name).x) / 2);
    canvas.paint.slanted_text(font, {layout.origin.x + font_size(font) / 2, bottom}, 90, skin.theme.text_dim, name);
  }
}

void outline_row(const HeatmapCanvas& canvas, int row, Color32 color, float thickness) {
  if (row < 0 || row >= canvas.matrix.rows) return;
  // Keeps narrow cells visible.
  canvas.paint.rect(canvas.corner(row, 0), canvas.corner(row + 1, canvas.matrix.cols), color, 0,
                    clamped(canvas.layout.cell.y * 0.3F, 1.0F, thickness));
}

void outline_col(const HeatmapCanvas& canvas, int col, Color32 color, float thickness) {
  if (col < 0 || col >= canvas.matrix.cols) return;
  canvas.paint.rect(canvas.corner(0, col), canvas.corner(canvas.matrix.rows, col + 1), color, 0,
                    clamped(canvas.layout.cell.x * 0.3F, 1.0F, thickness));
}

void outline_cell(const HeatmapCanvas& canvas, int row, int col, float thickness) {
  const Color32 fill = is_masked(canvas, row, col) ? canvas.skin.theme.masked
                                                           : cell_color(canvas.coloring, canvas.matrix.at(row, col));
  canvas.paint.rect(canvas.corner(row, col), canvas.corner(row + 1, col + 1), text_on(fill), 0, thickness);
}

void draw_selection(const HeatmapCanvas& canvas, const HeatmapResult& result) {
  const float line = canvas.skin.px(2);
  const Color32 accent = canvas.skin.theme.accent;
  const Color32 pointed = faded(canvas.skin.theme.text, 0.7F);
  outline_row(canvas, canvas.options.pointed_row, pointed, 1);
  outline_col(canvas, canvas.options.pointed_col, pointed, 1);
  outline_col(canvas, canvas.options.selected_col, accent, line);
  for (const int col : canvas.options.marked_cols) outline_col(canvas, col, accent, line);
  outline_row(canvas, canvas.options.selected_row, accent, line);
  if (result.row >= 0) outline_cell(canvas, result.row, result.col, std::max(1.0F, line * 0.75F));
}

// ---- bars along the edges

float share_of(const HeatmapBars& bars, int index) {
  if (static_cast<std::size_t>(index) >= bars.values.size() || bars.high <= 0) return 0;
  return clamped(bars.values[static_cast<std::size_t>(index)] / bars.high, 0.0F, 1.0F);
}

void draw_row_bars(const HeatmapCanvas& canvas) {
  const HeatmapBars& bars = canvas.options.row_bars;
  const HeatmapLayout& layout = canvas.layout;
  if (bars.values.empty()) return;
  const float margin = layout.cell.y >= 6 ? 1 : 0;
  const Sight rows = rows_in_sight(canvas);
  for (int row = rows.begin; row < rows.end; ++row) {
    const float low = std::max(layout.body.y, canvas.corner(row, 0).y + margin);
    const float high = std::min(layout.end().y, canvas.corner(row + 1, 0).y - margin);
    canvas.paint.filled_rect({layout.bars.x, low}, {layout.bars.x + layout.bars_extent.x * share_of(bars, row), high},
                             canvas.skin.theme.series[0]);
  }
  canvas.paint.line({layout.bars.x, layout.body.y}, {layout.bars.x, layout.end().y}, canvas.skin.theme.border);
}

void draw_col_bars(const HeatmapCanvas& canvas) {
  const HeatmapBars& bars = canvas.options.col_bars;
  const HeatmapLayout& layout = canvas.layout;
  if (bars.values.empty()) return;
  const float margin = layout.cell.x >= 6 ? 1 : 0;
  const Sight cols = cols_in_sight(canvas);
  for (int col = cols.begin; col < cols.end; ++col) {
    const float low = std::max(layout.body.x, canvas.corner(0, col).x + margin);
    const float high = std::min(layout.end().x, canvas.corner(0, col + 1).x - margin);
    canvas.paint.filled_rect({low, layout.bars.y}, {high, layout.bars.y + layout.bars_extent.y * share_of(bars, col)},
                             canvas.skin.theme.series[0]);
  }
  canvas.paint.line({layout.body.x, layout.bars.y}, {layout.end().x, layout.bars.y}, canvas.skin.theme.border);
}

void name_bars(const HeatmapCanvas& canvas) {
  const HeatmapLayout& layout = canvas.layout;
  ImFont* font = canvas.skin.fonts.small;
  const Color32 color = canvas.skin.theme.text_dim;
  if (!canvas.options.row_bars.values.empty())
    canvas.paint.text(font, {layout.bars.x, layout.end().y + canvas.skin.px(4)}, color, canvas.options.row_bars.name);
  if (canvas.options.col_bars.values.empty()) return;
  const float width = text_size(font, canvas.options.col_bars.name).x;
  canvas.paint.text(font, {layout.body.x - canvas.skin.px(6) - width, layout.bars.y}, color,
                    canvas.options.col_bars.name);
}

// ---- tooltips

// Large enough to read from the last row of a room.
void large_number(const HeatmapCanvas& canvas, int row, int col) {
  const WithFont large(canvas.skin.fonts.large);
  ImGui::Text("%s \u2192 %s", label_of(canvas.options.row_labels, row, canvas.options.first_row).c_str(),
              label_of(canvas.options.col_labels, col, canvas.options.first_col).c_str());
  if (is_masked(canvas, row, col))
    ImGui::TextUnformatted(tr("masked"));
  else
    ImGui::Text("%.3g", static_cast<double>(canvas.matrix.at(row, col)));
}

void cell_tooltip(const HeatmapCanvas& canvas, int row, int col) {
  if (canvas.skin.presentation) return;  // already shown in the cell
  {
    WithFont mono(canvas.skin.fonts.mono);
    ImGui::Text("%s \u2192 %s", label_of(canvas.options.row_labels, row, canvas.options.first_row).c_str(),
                label_of(canvas.options.col_labels, col, canvas.options.first_col).c_str());
  }
  if (canvas.options.mask_upper && col > row)
    ImGui::TextDisabled("%s", tr("masked: look-ahead mask (\u00A73.2.3)"));
  else
    ImGui::Text("%.6g", static_cast<double>(canvas.matrix.at(row, col)));
}

void label_tooltip(const HeatmapCanvas& canvas, const std::string& label, const HeatmapBars& bars, int index) {
  mono_text(label, canvas.skin);
  if (static_cast<std::size_t>(index) >= bars.values.size()) return;
  ImGui::Text("%s: %.4g %s", bars.name, static_cast<double>(bars.values[static_cast<std::size_t>(index)]), bars.unit);
  ImGui::PushTextWrapPos(canvas.skin.px(320));
  ImGui::TextDisabled("%s", bars.help);
  ImGui::PopTextWrapPos();
}

void draw_tooltip(const HeatmapCanvas& canvas, const HeatmapResult& result) {
  const HeatmapOptions& options = canvas.options;
  if (result.row < 0 && result.row_label < 0 && result.col_label < 0) return;
  ImGui::BeginTooltip();
  if (result.row >= 0 && canvas.skin.presentation) large_number(canvas, result.row, result.col);
  if (result.row >= 0 && options.tooltip)
    options.tooltip(result.row, result.col);
  else if (result.row >= 0)
    cell_tooltip(canvas, result.row, result.col);
  else if (result.row_label >= 0)
    label_tooltip(canvas, label_of(options.row_labels, result.row_label, options.first_row), options.row_bars,
                  result.row_label);
  else
    label_tooltip(canvas, label_of(options.col_labels, result.col_label, options.first_col), options.col_bars,
                  result.col_label);
  ImGui::EndTooltip();
}

// Explains text at an edge: the name of an axis by its glossary entry.
void explain(ImVec2 low, ImVec2 size, std::string_view name, std::string_view help, const Skin& skin) {
  if (name.empty()) return;
  ImGui::SetCursorScreenPos(low);
  ImGui::Dummy(size);
  const std::vector<const Term*> terms = terms_in(name);
  if (!help.empty()) return help_tooltip(help, skin, name);
  if (!terms.empty()) help_tooltip(tr(terms.front()->meaning), skin, terms.front()->name);
}

void explain_names(const HeatmapCanvas& canvas) {
  const HeatmapLayout& layout = canvas.layout;
  const HeatmapOptions& options = canvas.options;
  const Skin& skin = canvas.skin;
  ImFont* font = skin.fonts.small;
  const float line = font_size(font);
  explain({layout.body.x, layout.origin.y}, text_size(font, options.col_axis), options.col_axis, {}, skin);
  const float height = std::max(1.0F, std::min(text_size(font, options.row_axis).x, layout.sight.y));
  const float middle = layout.body.y + layout.sight.y / 2;
  explain({layout.origin.x, middle - height / 2}, {line, height}, options.row_axis, {}, skin);
  if (!options.row_bars.values.empty())
    explain({layout.bars.x, layout.end().y + skin.px(4)}, text_size(font, options.row_bars.name), options.row_bars.name,
            options.row_bars.help, skin);
  if (options.col_bars.values.empty()) return;
  const ImVec2 size = text_size(font, options.col_bars.name);
  explain({layout.body.x - skin.px(6) - size.x, layout.bars.y}, size, options.col_bars.name, options.col_bars.help,
          skin);
}

Pointed pointed_cell(const HeatmapCanvas& canvas, const HeatmapResult& result) {
  const HeatmapOptions& options = canvas.options;
  Pointed pointed{.thing = options.thing, .about = options.about};
  const auto row = [&](int index) { return label_of(options.row_labels, index, options.first_row); };
  const auto col = [&](int index) { return label_of(options.col_labels, index, options.first_col); };
  const auto bar = [&](const HeatmapBars& bars, int index) {
    pointed.about = pointed.help = bars.name;
    const bool has = static_cast<std::size_t>(index) < bars.values.size();
    return has ? fmt::format("{:.6g}", bars.values[static_cast<std::size_t>(index)]) : std::string();
  };
  if (result.row >= 0) {
    pointed.name = fmt::format("{} \u2192 {}", row(result.row), col(result.col));
    pointed.value = fmt::format("{:.6g}", canvas.matrix.at(result.row, result.col));
  } else if (result.row_label >= 0) {
    pointed.name = row(result.row_label);
    pointed.value = bar(options.row_bars, result.row_label);
  } else if (result.col_label >= 0) {
    pointed.name = col(result.col_label);
    pointed.value = bar(options.col_bars, result.col_label);
  }
  return pointed;
}

void say_what_is_chosen(const HeatmapCanvas& canvas) {
  const int row = canvas.options.selected_row, col = canvas.options.selected_col;
  if (row < 0 || row >= canvas.matrix.rows || col < 0 || col >= canvas.matrix.cols) return;
  Pointed cell = pointed_cell(canvas, {.row = row, .col = col});
  cell.place = canvas.corner(row + 1, col + 1);
  choose_target(std::move(cell));
}

// Draws everything that is clipped to the visible cells.
void draw_cells(const HeatmapCanvas& canvas, std::uint64_t version, TextureStore& textures) {
  Painter& paint = canvas.paint;
  paint.push_clip(canvas.layout.body, canvas.layout.end());
  paint_matrix(paint, canvas.corner(0, 0), canvas.corner(canvas.matrix.rows, canvas.matrix.cols), canvas.matrix,
               version, canvas.coloring, textures);
  draw_mask(canvas);
  draw_grid(canvas);
  draw_values(canvas);
  paint.pop_clip();
}

void draw_outlines(const HeatmapCanvas& canvas, const HeatmapResult& result) {
  const ImVec2 low = canvas.layout.body;
  const ImVec2 high = canvas.layout.end();
  const float out = canvas.skin.px(2);
  canvas.paint.rect(low, high, canvas.skin.theme.border);
  canvas.paint.push_clip({low.x - out, low.y - out}, {high.x + out, high.y + out});
  draw_selection(canvas, result);
  canvas.paint.pop_clip();
}

void draw_labels(const HeatmapCanvas& canvas, const HeatmapResult& result) {
  const auto pointed = [](int cell, int label, int elsewhere) {
    return cell >= 0 ? cell : label >= 0 ? label : elsewhere;
  };
  draw_axes(canvas);
  draw_row_labels(canvas, pointed(result.row, result.row_label, canvas.options.pointed_row));
  draw_col_labels(canvas, pointed(result.col, result.col_label, canvas.options.pointed_col));
  name_bars(canvas);
}

}  // namespace

HeatmapResult draw_heatmap(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                           const HeatmapOptions& options, TextureStore& textures, const Skin& skin) {
  size = room_for(size);
  if (matrix.empty()) {
    draw_quiet_note(tr("nothing to show yet"), size, skin);
    return {};
  }
  ImGui::PushID(id);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  const HeatmapCanvas canvas{matrix, options,
                             skin,   heatmap_layout(matrix, options, origin, size, skin),
                             paint,  {options.map, options.low, options.high, options.mask_upper, skin.theme.masked}};
  const HeatmapResult result = touch_heatmap(matrix, options, canvas.layout);
  draw_tooltip(canvas, result);
  if (result.row >= 0 || result.row_label >= 0 || result.col_label >= 0) point_at(pointed_cell(canvas, result));
  say_what_is_chosen(canvas);

  paint.push_clip(origin, {origin.x + size.x, origin.y + size.y});
  draw_cells(canvas, version, textures);
  draw_row_bars(canvas);
  draw_col_bars(canvas);
  draw_outlines(canvas, result);
  draw_labels(canvas, result);
  if (options.legend) {
    ImGui::SetCursorScreenPos({canvas.layout.legend_x, canvas.layout.body.y});
    const float height = std::min(skin.px(160), canvas.layout.sight.y);
    draw_legend(options.map, options.low, options.high, {skin.px(12), std::max(height, skin.px(40))}, skin);
  }
  paint.pop_clip();
  explain_names(canvas);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(size);
  ImGui::PopID();
  return result;
}

float heatmap_height(const Matrix& matrix, const HeatmapOptions& options, ImVec2 size, const Skin& skin) {
  if (matrix.empty()) return size.y;
  const HeatmapLayout layout = heatmap_layout(matrix, options, {0, 0}, size, skin);
  const float cells = layout.sight.y;
  const float legend = options.legend ? skin.px(40) : 0;
  const float bars = options.col_bars.values.empty() ? 0 : layout.bars_extent.y + skin.px(6);
  return std::min(size.y, layout.body.y + std::max(cells + bars, legend) + 1);
}

ImVec2 room_for(ImVec2 size) {
  const ImVec2 region = ImGui::GetContentRegionAvail();
  return {std::max(1.0F, size.x > 0 ? size.x : region.x + size.x),
          std::max(1.0F, size.y > 0 ? size.y : region.y + size.y)};
}

}  // namespace attnscope
