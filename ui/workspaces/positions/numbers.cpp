#include "workspaces/positions/numbers.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "config/position_schemes.h"
#include "widgets/heatmap.h"
#include "widgets/number_field.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

const char* row_name(PositionForm form) {
  return tr(row_word(form));
}

// Occupies at least that many lines, so that the contents below captions side by side are aligned.
void caption(const char* text, int lines, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  WithFont small(skin.fonts.small);
  const float wrapped = ImGui::CalcTextSize(text, nullptr, false, ImGui::GetContentRegionAvail().x).y;
  small_text(skin.theme.text_dim, text, skin);
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, std::max(wrapped, ImGui::GetTextLineHeight() * static_cast<float>(lines))});
}

float largest_magnitude(const Matrix& matrix) {
  float largest = 0;
  for (const float value : matrix.values) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest : 1;
}

// Every snapshot contains its tables; derived data is recomputed only when they differ.
void take_table(const Snapshot& snapshot, const PositionScheme& scheme, PositionNumbersView& view) {
  const std::vector<PositionTable>& tables = *snapshot.positions;
  view.table = std::min(view.table, tables.size() - 1);
  const PositionTable& table = tables[view.table];
  const bool same_scheme = view.scheme == snapshot.model.positions;
  const bool same_place = same_scheme && view.shown.name == table.name && view.shown.first == table.first;
  if (same_place && (view.source == snapshot.positions || view.shown.values == table.values)) return;
  view.source = snapshot.positions;
  if (!same_scheme) view.curves_axis = view.products_axis = {};
  view.scheme = snapshot.model.positions;
  view.shown = table;
  view.dots = scheme.form == PositionForm::bias ? Matrix() : product_transposed(table.values, table.values);
  view.heads = scheme.form == PositionForm::bias ? transposed(table.values) : Matrix();
  ++view.version;
  view.row = clamped(view.row, 0, table.values.rows - 1);
}

// The selected dimensions that exist in the table.
std::vector<int> shown_dimensions(const PositionNumbersView& view) {
  std::vector<int> shown = view.dimensions;
  std::erase_if(shown, [&](int dimension) { return dimension >= view.shown.values.cols; });
  return shown;
}

void toggle_dimension(PositionNumbersView& view, int dimension) {
  if (std::erase(view.dimensions, dimension) > 0) return;
  constexpr std::size_t most = 7;  // the number of distinct colors
  if (view.dimensions.size() == most) view.dimensions.erase(view.dimensions.begin());
  view.dimensions.push_back(dimension);
}

// Draws the heading of the table, with a choice next to it if there are several.
void draw_heading(const PositionScheme& scheme, const std::vector<PositionTable>& tables, PositionNumbersView& view,
                  const Skin& skin) {
  bold_text(tr(scheme.heading), skin);
  if (tables.size() < 2) return;
  ImGui::SameLine(0, skin.px(14));
  const WithFont small(skin.fonts.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {skin.px(6), 1});
  ImGui::SetNextItemWidth(std::min(skin.px(150), ImGui::GetContentRegionAvail().x));
  if (begin_combo("##table", tables[view.table].name)) {
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (ImGui::Selectable(tables[i].name.c_str(), i == view.table)) view.table = i;
    }
    ImGui::EndCombo();
  }
  ImGui::PopStyleVar();
  help_tooltip(tr("The part of the model whose position table is shown."), skin);
}

// ---- vectors

// The formula of a computed value, with `base` for RoPE; empty for a learned one.
std::string formula(const PositionScheme& scheme, int position, int dimension, int num_dimensions, double base) {
  const std::string_view format = scheme.formulas[dimension % 2];
  return fmt::format(fmt::runtime(format), position, dimension - dimension % 2, num_dimensions, base);
}

void draw_matrix(const PositionScheme& scheme, double base, PositionNumbersView& view, ImVec2 size,
                 TextureStore& textures, const Skin& skin) {
  const Matrix& matrix = view.shown.values;
  const std::vector<int> marked = shown_dimensions(view);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.high = largest_magnitude(matrix);
  options.low = -options.high;
  options.square = false;
  options.row_axis = row_name(scheme.form);
  options.col_axis = tr("dimension (click one to draw its curve)");
  options.first_row = view.shown.first;
  options.marked_cols = marked;
  options.tooltip = [&](int row, int dimension) {
    const int number = view.shown.first + row;
    ImGui::Text(tr("%s %d, dimension %d"), row_name(scheme.form), number, dimension);
    ImGui::Text("%.6f", static_cast<double>(matrix.at(row, dimension)));
    const std::string made = formula(scheme, number, dimension, matrix.cols, base);
    if (!made.empty()) ImGui::TextDisabled("%s", made.c_str());
  };
  const HeatmapResult result = draw_heatmap("matrix", matrix, view.version, size, options, textures, skin);
  if (result.clicked) toggle_dimension(view, result.col);
}

Series column(const PositionTable& table, int col) {
  Series series;
  for (int row = 0; row < table.values.rows; ++row) {
    series.x.push_back(table.first + row);
    series.y.push_back(static_cast<double>(table.values.at(row, col)));
  }
  return series;
}

// Plots columns of the table over its rows, named `stem` plus their number, starting at `first`.
void draw_columns(const PositionScheme& scheme, const std::vector<int>& columns, const char* stem, int first,
                  const PlotOptions& options, PositionNumbersView& view, const Skin& skin) {
  std::vector<Series> series;
  std::vector<std::string> names;
  for (const int col : columns) {
    series.push_back(column(view.shown, col));
    names.push_back(fmt::format("{} {}", stem, first + col));
  }
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < series.size(); ++i) lines.push_back({names[i], &series[i], series_color(skin.theme, i)});
  PlotOptions labelled = options;
  labelled.x_label = row_name(scheme.form);
  draw_plot("curves", lines, {0, 0}, view.curves_axis, view.curves, labelled, skin);
}

// The scale: the largest dot product, which every position has with itself.
float largest_dot(const Matrix& dots) {
  const auto largest = std::max_element(dots.values.begin(), dots.values.end());
  return largest == dots.values.end() || *largest <= 0 ? 1.0F : *largest;
}

void draw_dots(const PositionScheme& scheme, PositionNumbersView& view, ImVec2 size, TextureStore& textures,
               const Skin& skin) {
  HeatmapOptions options;
  options.low = std::min(0.0F, *std::min_element(view.dots.values.begin(), view.dots.values.end()));
  options.high = largest_dot(view.dots);
  options.row_axis = row_name(scheme.form);
  const std::string other = trf("other {} (click a row)", row_name(scheme.form));
  options.col_axis = other;
  options.first_row = options.first_col = view.shown.first;
  options.selected_row = view.row;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    const int first = view.shown.first;
    ImGui::Text("%s %d \u00B7 %s %d = %.4f", row_name(scheme.form), first + row, row_name(scheme.form), first + col,
                static_cast<double>(view.dots.at(row, col)));
    ImGui::TextDisabled(tr("distance %d"), std::abs(col - row));
  };
  const HeatmapResult result = draw_heatmap("dots", view.dots, view.version, size, options, textures, skin);
  if (result.clicked) view.row = result.row;
}

void draw_distances(const PositionScheme& scheme, PositionNumbersView& view, const Skin& skin) {
  Series series;
  for (int other = 0; other < view.dots.cols; ++other) {
    series.x.push_back(other - view.row);
    series.y.push_back(static_cast<double>(view.dots.at(view.row, other)));
  }
  const std::string name = trf("{} {} with the others", row_name(scheme.form), view.shown.first + view.row);
  const PlotLine line{name, &series, skin.theme.series[0]};
  draw_plot("distances", {&line, 1}, {0, 0}, view.products_axis, view.products,
            {.title = tr("Dot product"), .x_label = tr("distance")}, skin);
}

// Draws the heading of the last plot, with the choice of its row next to it.
void draw_row_choice(const PositionScheme& scheme, PositionNumbersView& view, const Skin& skin) {
  bold_text(trf("Similarity to one {}", row_name(scheme.form)), skin);
  ImGui::SameLine(0, skin.px(14));
  WithFont small(skin.fonts.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {skin.px(6), 1});
  ImGui::SetNextItemWidth(std::min(skin.px(150), ImGui::GetContentRegionAvail().x));
  const int first = view.shown.first;
  int number = first + view.row;
  number_slider("##row", number, first, first + view.dots.rows - 1, "%d", ImGuiSliderFlags_AlwaysClamp, skin);
  view.row = number - first;
  ImGui::PopStyleVar();
  help_tooltip(tr("The row that the others are compared with. You can also click a row above."), skin);
}

void draw_vectors(const Snapshot& snapshot, const PositionScheme& scheme, PositionNumbersView& view,
                  TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(20);
  const float left = std::floor((room.x - gap) * 0.56F);
  const float lower = std::floor(room.y * 0.4F);

  ImGui::BeginChild("left", {left, room.y}, false, ImGuiWindowFlags_NoScrollbar | view_flags());
  draw_heading(scheme, *snapshot.positions, view, skin);
  caption(tr(scheme.caption), 2, skin);
  draw_matrix(scheme, snapshot.model.rope_theta, view, {0, -lower}, textures, skin);
  bold_text(tr(scheme.curves_heading), skin);
  caption(tr(scheme.curves), 1, skin);
  const double highest = 1.1 * static_cast<double>(largest_magnitude(view.shown.values));
  draw_columns(scheme, shown_dimensions(view), tr("dim"), 0,
               {.title = tr("Value"), .y_limits = PlotRange{-highest, highest}}, view, skin);
  ImGui::EndChild();

  ImGui::SameLine(0, gap);
  ImGui::BeginChild("right", {0, room.y}, false, ImGuiWindowFlags_NoScrollbar | view_flags());
  bold_text(trf("Pairwise similarity of {}s", row_name(scheme.form)), skin);
  caption(tr(scheme.alike), 2, skin);
  draw_dots(scheme, view, {0, -lower}, textures, skin);
  draw_row_choice(scheme, view, skin);
  caption(tr("The selected row, by distance from it."), 1, skin);
  draw_distances(scheme, view, skin);
  ImGui::EndChild();
}

// ---- biases

void draw_head_biases(const PositionScheme& scheme, PositionNumbersView& view, ImVec2 size, TextureStore& textures,
                      const Skin& skin) {
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.high = largest_magnitude(view.heads);
  options.low = -options.high;
  options.square = false;
  options.row_axis = tr("head");
  options.col_axis = tr("distance: key \u2212 query");
  options.first_row = 1;
  options.first_col = view.shown.first;
  options.tooltip = [&](int head, int distance) {
    ImGui::Text(tr("head %d, %s %d"), head + 1, row_name(scheme.form), view.shown.first + distance);
    ImGui::Text("%.6f", static_cast<double>(view.heads.at(head, distance)));
  };
  draw_heatmap("biases", view.heads, view.version, size, options, textures, skin);
}

void draw_biases(const Snapshot& snapshot, const PositionScheme& scheme, PositionNumbersView& view,
                 TextureStore& textures, const Skin& skin) {
  draw_heading(scheme, *snapshot.positions, view, skin);
  caption(tr(scheme.caption), 1, skin);
  draw_head_biases(scheme, view, {0, -std::floor(ImGui::GetContentRegionAvail().y * 0.5F)}, textures, skin);
  bold_text(tr(scheme.curves_heading), skin);
  caption(tr(scheme.curves), 1, skin);
  // At most as many lines as there are distinct colors.
  const int heads = view.heads.rows;
  const int stride = (heads - 1) / static_cast<int>(skin.theme.series.size()) + 1;
  std::vector<int> drawn;
  for (int head = 0; head < heads; head += stride) drawn.push_back(head);
  draw_columns(scheme, drawn, tr("head"), 1, {.title = tr("Bias added to the score")}, view, skin);
}

}  // namespace

void draw_position_numbers(const Snapshot* snapshot, PositionNumbersView& view, TextureStore& textures,
                           const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!snapshot)
    return draw_quiet_note(tr("This view shows the positional encoding. Type a sentence to load it."), room, skin);
  if (snapshot->model.is_recurrent()) {
    return draw_quiet_note(tr("A recurrent network has no positional encoding: it reads one token after another, so "
                              "the order is implicit."),
                           room, skin);
  }
  const PositionScheme& scheme = position_scheme(snapshot->model.positions);
  if (scheme.form == PositionForm::none) return draw_quiet_note(tr(scheme.caption), room, skin);
  if (!snapshot->positions || snapshot->positions->empty())
    return draw_quiet_note(tr("This forward pass has no position vectors. Type a sentence."), room, skin);
  take_table(*snapshot, scheme, view);
  if (scheme.form == PositionForm::bias) {
    draw_biases(*snapshot, scheme, view, textures, skin);
  } else {
    draw_vectors(*snapshot, scheme, view, textures, skin);
  }
}

}  // namespace attnscope
