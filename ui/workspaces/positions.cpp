#include "workspaces/positions.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "widgets/heatmap.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

void heading(const char* text, const Look& look) {
  WithFont bold(look.fonts.bold);
  ImGui::TextUnformatted(text);
}

// Takes at least that many lines of height, so that what stands beneath captions side by side is level.
void caption(const char* text, int lines, const Look& look) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  WithFont small(look.fonts.small);
  const float wrapped = ImGui::CalcTextSize(text, nullptr, false, ImGui::GetContentRegionAvail().x).y;
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, std::max(wrapped, ImGui::GetTextLineHeight() * static_cast<float>(lines))});
}

void take_matrix(const std::shared_ptr<const Matrix>& positions, PositionsView& view) {
  if (view.source == positions) return;
  view.source = positions;
  view.dots = dot_products(*positions);
  ++view.version;
  view.position = std::clamp(view.position, 0, std::max(0, positions->rows - 1));
  std::erase_if(view.dimensions, [&](int dimension) { return dimension >= positions->cols; });
}

void toggle_dimension(PositionsView& view, int dimension) {
  const auto found = std::find(view.dimensions.begin(), view.dimensions.end(), dimension);
  if (found != view.dimensions.end()) {
    view.dimensions.erase(found);
    return;
  }
  constexpr std::size_t most = 7;  // as many as there are colours to tell apart
  if (view.dimensions.size() == most) view.dimensions.erase(view.dimensions.begin());
  view.dimensions.push_back(dimension);
}

void draw_matrix(const Matrix& matrix, PositionsView& view, ImVec2 size, TextureStore& textures, const Look& look) {
  HeatmapOptions options;
  options.map = look.theme.diverging;
  options.low = -1;
  options.high = 1;
  options.square = false;
  options.row_axis = "position";
  options.col_axis = "dimension (click one to draw its wave)";
  options.marked_cols = view.dimensions;
  options.tooltip = [&](int position, int dimension) {
    ImGui::Text("position %d, dimension %d", position, dimension);
    ImGui::Text("%.6f", static_cast<double>(matrix.at(position, dimension)));
    ImGui::TextDisabled("%s(%d / 10000^(%d/%d))", dimension % 2 == 0 ? "sin" : "cos", position,
                        dimension - dimension % 2, matrix.cols);
  };
  const HeatmapResult result = draw_heatmap("matrix", matrix, view.version, size, options, textures, look);
  if (result.clicked) toggle_dimension(view, result.col);
}

Series column(const Matrix& matrix, int col) {
  Series series;
  for (int row = 0; row < matrix.rows; ++row) {
    series.x.push_back(row);
    series.y.push_back(static_cast<double>(matrix.at(row, col)));
  }
  return series;
}

void draw_waves(const Matrix& matrix, PositionsView& view, ImVec2 size, const Look& look) {
  std::vector<Series> series;
  std::vector<std::string> names;
  for (const int dimension : view.dimensions) {
    series.push_back(column(matrix, dimension));
    names.push_back(fmt::format("dim {}", dimension));
  }
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < series.size(); ++i)
    lines.push_back({names[i], &series[i], look.theme.series[i % look.theme.series.size()]});
  draw_plot("waves", lines, size, view.waves_axis, view.waves,
            {.title = "Value", .x_label = "position", .y_limits = PlotRange{-1.1, 1.1}}, look);
}

// As a share of the largest, which every position has with itself.
float largest_dot(const Matrix& dots) {
  const auto largest = std::max_element(dots.values.begin(), dots.values.end());
  return largest == dots.values.end() || *largest <= 0 ? 1.0F : *largest;
}

void draw_dots(PositionsView& view, ImVec2 size, TextureStore& textures, const Look& look) {
  HeatmapOptions options;
  options.low = std::min(0.0F, *std::min_element(view.dots.values.begin(), view.dots.values.end()));
  options.high = largest_dot(view.dots);
  options.row_axis = "position";
  options.col_axis = "other position (click a row to draw it)";
  options.selected_row = view.position;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    ImGui::Text("PE(%d) \u00B7 PE(%d) = %.4f", row, col, static_cast<double>(view.dots.at(row, col)));
    ImGui::TextDisabled("distance %d", col - row);
  };
  const HeatmapResult result = draw_heatmap("dots", view.dots, view.version, size, options, textures, look);
  if (result.clicked) view.position = result.row;
}

void draw_distances(PositionsView& view, ImVec2 size, const Look& look) {
  Series series;
  for (int other = 0; other < view.dots.cols; ++other) {
    series.x.push_back(other - view.position);
    series.y.push_back(static_cast<double>(view.dots.at(view.position, other)));
  }
  const std::string name = fmt::format("PE({}) \u00B7 PE({} + distance)", view.position, view.position);
  const PlotLine line{name, &series, look.theme.series[0]};
  draw_plot("distances", {&line, 1}, size, view.products_axis, view.products,
            {.title = "Dot product", .x_label = "distance"}, look);
}

// The heading of the last plot, with the choice of its row beside it.
void draw_row_choice(PositionsView& view, int rows, const Look& look) {
  heading("From one position", look);
  ImGui::SameLine(0, look.px(14));
  WithFont small(look.fonts.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {look.px(6), 1});
  ImGui::SetNextItemWidth(look.px(150));
  ImGui::SliderInt("##position", &view.position, 0, rows - 1, "position %d");
  ImGui::PopStyleVar();
  help_tooltip("The position the others are compared with; also: click a row above.", look);
}

}  // namespace

void draw_positions(const Snapshot* snapshot, PositionsView& view, TextureStore& textures, const Look& look) {
  if (!snapshot || !snapshot->positions || snapshot->positions->empty()) {
    draw_quiet_note("Positions appear with the first sentence the model has looked at.", ImGui::GetContentRegionAvail(),
                    look);
    return;
  }
  take_matrix(snapshot->positions, view);
  const Matrix& matrix = *view.source;
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = look.px(20);
  const float left = std::floor((room.x - gap) * 0.56F);
  const float lower = std::floor(room.y * 0.4F);

  ImGui::BeginChild("left", {left, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  heading("Positional encoding", look);
  caption(
      "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same; added to the embeddings (\u00A73.5), "
      "since "
      "attention knows no order.",
      2, look);
  draw_matrix(matrix, view, {0, -lower}, textures, look);
  heading("Waves", look);
  caption("Sine and cosine in turn: fast on the left, slow on the right.", 1, look);
  draw_waves(matrix, view, {0, 0}, look);
  ImGui::EndChild();

  ImGui::SameLine(0, gap);
  ImGui::BeginChild("right", {0, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  heading("How alike positions are", look);
  caption("The dot product of two positions depends on their distance alone: near ones are alike wherever they stand.",
          2, look);
  draw_dots(view, {0, -lower}, textures, look);
  draw_row_choice(view, matrix.rows, look);
  caption("The chosen row, over the distance to it.", 1, look);
  draw_distances(view, {0, 0}, look);
  ImGui::EndChild();
}

Matrix dot_products(const Matrix& rows) {
  Matrix dots(rows.rows, rows.rows);
  for (int i = 0; i < rows.rows; ++i)
    for (int j = 0; j <= i; ++j) {
      float sum = 0;
      for (int k = 0; k < rows.cols; ++k) sum += rows.at(i, k) * rows.at(j, k);
      dots.at(i, j) = dots.at(j, i) = sum;
    }
  return dots;
}

}  // namespace attnscope
