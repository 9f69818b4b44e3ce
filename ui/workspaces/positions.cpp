#include "workspaces/positions.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "widgets/heatmap.h"
#include "widgets/tooltip.h"

namespace attnscope {
namespace {

// What a scheme's numbers are and where they come from.
struct SchemeText {
  std::string_view scheme;
  const char* heading;
  const char* caption;
  const char* curves_heading;
  const char* curves;  // under it
  const char* alike;   // how vectors resemble each other; null: there are biases
  const char* row;     // what a row of the table is
};

constexpr std::array schemes = {
    SchemeText{"sinusoidal", "Positional encoding",
               "PE(pos, 2i) = sin(pos / 10000^(2i/d)), PE(pos, 2i+1) = cos of the same; added to the embeddings "
               "(\u00A73.5), since attention knows no order.",
               "Waves", "Sine and cosine in turn: fast on the left, slow on the right.",
               "Dot products depend on the distance alone: near positions are alike, wherever they stand.", "position"},
    SchemeText{"learned", "Learned positions",
               "One trained vector a position, added to the embeddings. They begin as noise; the paper found them as "
               "good as sinusoids (\u00A73.5, table 3 E).",
               "Curves", "Some dimensions, over the position.", "Nothing but training makes near positions alike.",
               "position"},
    SchemeText{"rope", "Rotations (RoPE)",
               "cos, sin of position \u00B7 10000^(\u22122i/d_k): the angles by which a head's queries and keys are "
               "rotated, pair by pair of dimensions (2104.09864 \u00A73.4.2).",
               "Waves", "Cosine and sine in turn: fast on the left, slow on the right.",
               "Two rotated vectors that were alike: what is left of their dot product depends on the distance alone.",
               "position"},
    SchemeText{"shaw", "Relative vectors (Shaw)",
               "a^K, added to the keys by their distance from the query, farther ones as the farthest; shared by a "
               "layer's heads (1803.02155 \u00A73.2).",
               "Curves", "Some dimensions, over the distance key \u2212 query.",
               "Dot products: distances that a layer tells apart are unlike.", "distance"},
    SchemeText{"t5", "Learned biases (T5)",
               "Each head adds a trained number to its scores, one for every bucket of distances, shared by all layers "
               "(1910.10683 \u00A72.1). Zero before training.",
               "Curves",
               "What a head adds to a score, over the distance key \u2212 query: near distances have a bucket of their "
               "own, far ones share.",
               nullptr, "distance"},
    SchemeText{"alibi", "Linear biases (ALiBi)",
               "Each head subtracts its slope times the distance from its scores: nothing is trained "
               "(2108.12409 \u00A73).",
               "Curves",
               "What a head adds to a score, over the distance key \u2212 query: steep heads see only what is near.",
               nullptr, "distance"},
};

const SchemeText* text_of(std::string_view scheme) {
  const auto* const found =
      std::find_if(schemes.begin(), schemes.end(), [&](const SchemeText& text) { return text.scheme == scheme; });
  return found == schemes.end() ? nullptr : found;
}

void heading(const char* text, const Skin& skin) {
  WithFont bold(skin.fonts.bold);
  ImGui::TextUnformatted(text);
}

// Takes at least that many lines of height, so that what stands beneath captions side by side is level.
void caption(const char* text, int lines, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  WithFont small(skin.fonts.small);
  const float wrapped = ImGui::CalcTextSize(text, nullptr, false, ImGui::GetContentRegionAvail().x).y;
  ImGui::PushStyleColor(ImGuiCol_Text, skin.theme.text_dim);
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text);
  ImGui::PopTextWrapPos();
  ImGui::PopStyleColor();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, std::max(wrapped, ImGui::GetTextLineHeight() * static_cast<float>(lines))});
}

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.cols, matrix.rows);
  for (int row = 0; row < matrix.rows; ++row)
    for (int col = 0; col < matrix.cols; ++col) result.at(col, row) = matrix.at(row, col);
  return result;
}

float largest_magnitude(const Matrix& matrix) {
  float largest = 0;
  for (const float value : matrix.values) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest : 1;
}

// Every snapshot brings its tables; they are worked on again only when they are others.
void take_table(const Snapshot& snapshot, const SchemeText& text, PositionsView& view) {
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
  view.dots = text.alike ? dot_products(table.values) : Matrix();
  view.heads = text.alike ? Matrix() : transposed(table.values);
  ++view.version;
  view.row = std::clamp(view.row, 0, table.values.rows - 1);
}

// Those that the table has.
std::vector<int> shown_dimensions(const PositionsView& view) {
  std::vector<int> shown = view.dimensions;
  std::erase_if(shown, [&](int dimension) { return dimension >= view.shown.values.cols; });
  return shown;
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

// The heading of the table, with the choice among several beside it.
void draw_heading(const SchemeText& text, const std::vector<PositionTable>& tables, PositionsView& view,
                  const Skin& skin) {
  heading(text.heading, skin);
  if (tables.size() < 2) return;
  ImGui::SameLine(0, skin.px(14));
  const WithFont small(skin.fonts.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {skin.px(6), 1});
  ImGui::SetNextItemWidth(skin.px(150));
  if (ImGui::BeginCombo("##table", tables[view.table].name.c_str())) {
    for (std::size_t i = 0; i < tables.size(); ++i) {
      if (ImGui::Selectable(tables[i].name.c_str(), i == view.table)) view.table = i;
    }
    ImGui::EndCombo();
  }
  ImGui::PopStyleVar();
  help_tooltip("Where the order is told.", skin);
}

// ---- vectors

// How a computed value came about; empty for a trained one.
std::string formula(const PositionsView& view, int position, int dimension) {
  const int pair = dimension - dimension % 2;
  const bool even = dimension % 2 == 0;
  if (view.scheme == "sinusoidal") {
    return fmt::format("{}({} / 10000^({}/{}))", even ? "sin" : "cos", position, pair, view.shown.values.cols);
  }
  if (view.scheme == "rope") {
    return fmt::format("{}({} \u00B7 10000^(\u2212{}/{}))", even ? "cos" : "sin", position, pair,
                       view.shown.values.cols);
  }
  return {};
}

void draw_matrix(const SchemeText& text, PositionsView& view, ImVec2 size, TextureStore& textures, const Skin& skin) {
  const Matrix& matrix = view.shown.values;
  const std::vector<int> marked = shown_dimensions(view);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.high = largest_magnitude(matrix);
  options.low = -options.high;
  options.square = false;
  options.row_axis = text.row;
  options.col_axis = "dimension (click one to draw its curve)";
  options.first_row = view.shown.first;
  options.marked_cols = marked;
  options.tooltip = [&](int row, int dimension) {
    const int number = view.shown.first + row;
    ImGui::Text("%s %d, dimension %d", text.row, number, dimension);
    ImGui::Text("%.6f", static_cast<double>(matrix.at(row, dimension)));
    const std::string made = formula(view, number, dimension);
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

// Columns of the table over its rows, named after `stem` and their number from `first` on.
void draw_columns(const SchemeText& text, const std::vector<int>& columns, const char* stem, int first,
                  const PlotOptions& options, PositionsView& view, const Skin& skin) {
  std::vector<Series> series;
  std::vector<std::string> names;
  for (const int col : columns) {
    series.push_back(column(view.shown, col));
    names.push_back(fmt::format("{} {}", stem, first + col));
  }
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < series.size(); ++i)
    lines.push_back({names[i], &series[i], skin.theme.series[i % skin.theme.series.size()]});
  PlotOptions labelled = options;
  labelled.x_label = text.row;
  draw_plot("curves", lines, {0, 0}, view.curves_axis, view.curves, labelled, skin);
}

// As a share of the largest, which every position has with itself.
float largest_dot(const Matrix& dots) {
  const auto largest = std::max_element(dots.values.begin(), dots.values.end());
  return largest == dots.values.end() || *largest <= 0 ? 1.0F : *largest;
}

void draw_dots(const SchemeText& text, PositionsView& view, ImVec2 size, TextureStore& textures, const Skin& skin) {
  HeatmapOptions options;
  options.low = std::min(0.0F, *std::min_element(view.dots.values.begin(), view.dots.values.end()));
  options.high = largest_dot(view.dots);
  options.row_axis = text.row;
  const std::string other = fmt::format("other {} (click a row to draw it)", text.row);
  options.col_axis = other;
  options.first_row = options.first_col = view.shown.first;
  options.selected_row = view.row;
  options.print_values = false;
  options.tooltip = [&](int row, int col) {
    const int first = view.shown.first;
    ImGui::Text("%s %d \u00B7 %s %d = %.4f", text.row, first + row, text.row, first + col,
                static_cast<double>(view.dots.at(row, col)));
    ImGui::TextDisabled("%d apart", std::abs(col - row));
  };
  const HeatmapResult result = draw_heatmap("dots", view.dots, view.version, size, options, textures, skin);
  if (result.clicked) view.row = result.row;
}

void draw_distances(const SchemeText& text, PositionsView& view, const Skin& skin) {
  Series series;
  for (int other = 0; other < view.dots.cols; ++other) {
    series.x.push_back(other - view.row);
    series.y.push_back(static_cast<double>(view.dots.at(view.row, other)));
  }
  const std::string name = fmt::format("{} {}, with the others", text.row, view.shown.first + view.row);
  const PlotLine line{name, &series, skin.theme.series[0]};
  draw_plot("distances", {&line, 1}, {0, 0}, view.products_axis, view.products,
            {.title = "Dot product", .x_label = "apart"}, skin);
}

// The heading of the last plot, with the choice of its row beside it.
void draw_row_choice(const SchemeText& text, PositionsView& view, const Skin& skin) {
  heading(fmt::format("From one {}", text.row).c_str(), skin);
  ImGui::SameLine(0, skin.px(14));
  WithFont small(skin.fonts.small);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {skin.px(6), 1});
  ImGui::SetNextItemWidth(skin.px(150));
  const int first = view.shown.first;
  int number = first + view.row;
  ImGui::SliderInt("##row", &number, first, first + view.dots.rows - 1, fmt::format("{} %d", text.row).c_str(),
                   ImGuiSliderFlags_AlwaysClamp);
  view.row = number - first;
  ImGui::PopStyleVar();
  help_tooltip("What the others are compared with; also: click a row above.", skin);
}

void draw_vectors(const Snapshot& snapshot, const SchemeText& text, PositionsView& view, TextureStore& textures,
                  const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(20);
  const float left = std::floor((room.x - gap) * 0.56F);
  const float lower = std::floor(room.y * 0.4F);

  ImGui::BeginChild("left", {left, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  draw_heading(text, *snapshot.positions, view, skin);
  caption(text.caption, 2, skin);
  draw_matrix(text, view, {0, -lower}, textures, skin);
  heading(text.curves_heading, skin);
  caption(text.curves, 1, skin);
  const double highest = 1.1 * static_cast<double>(largest_magnitude(view.shown.values));
  draw_columns(text, shown_dimensions(view), "dim", 0, {.title = "Value", .y_limits = PlotRange{-highest, highest}},
               view, skin);
  ImGui::EndChild();

  ImGui::SameLine(0, gap);
  ImGui::BeginChild("right", {0, room.y}, false, ImGuiWindowFlags_NoScrollbar);
  heading(fmt::format("How alike {}s are", text.row).c_str(), skin);
  caption(text.alike, 2, skin);
  draw_dots(text, view, {0, -lower}, textures, skin);
  draw_row_choice(text, view, skin);
  caption("The chosen row, over how far apart they are.", 1, skin);
  draw_distances(text, view, skin);
  ImGui::EndChild();
}

// ---- biases

void draw_head_biases(const SchemeText& text, PositionsView& view, ImVec2 size, TextureStore& textures,
                      const Skin& skin) {
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.high = largest_magnitude(view.heads);
  options.low = -options.high;
  options.square = false;
  options.row_axis = "head";
  options.col_axis = "distance: key \u2212 query";
  options.first_row = 1;
  options.first_col = view.shown.first;
  options.tooltip = [&](int head, int distance) {
    ImGui::Text("head %d, %s %d", head + 1, text.row, view.shown.first + distance);
    ImGui::Text("%.6f", static_cast<double>(view.heads.at(head, distance)));
  };
  draw_heatmap("biases", view.heads, view.version, size, options, textures, skin);
}

void draw_biases(const Snapshot& snapshot, const SchemeText& text, PositionsView& view, TextureStore& textures,
                 const Skin& skin) {
  draw_heading(text, *snapshot.positions, view, skin);
  caption(text.caption, 1, skin);
  draw_head_biases(text, view, {0, -std::floor(ImGui::GetContentRegionAvail().y * 0.5F)}, textures, skin);
  heading(text.curves_heading, skin);
  caption(text.curves, 1, skin);
  // No more lines than there are colours to tell apart.
  const int heads = view.heads.rows;
  const int stride = (heads - 1) / static_cast<int>(skin.theme.series.size()) + 1;
  std::vector<int> drawn;
  for (int head = 0; head < heads; head += stride) drawn.push_back(head);
  draw_columns(text, drawn, "head", 1, {.title = "Added to the score"}, view, skin);
}

// Why there is nothing to draw; null when there is.
const char* nothing_to_draw(const Snapshot& snapshot) {
  if (snapshot.model.is_recurrent())
    return "A recurrent network needs no positions: it reads word after word, so order is the order of reading.";
  if (snapshot.model.positions == "none")
    return "This model is told nothing of the order. To its attention the words are a set: every order of the source "
           "gives the same. Only the decoder's look-ahead mask still says what came before what.";
  return nullptr;
}

}  // namespace

void draw_positions(const Snapshot* snapshot, PositionsView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (!snapshot)
    return draw_quiet_note("Positions appear with the first sentence the model has looked at.", room, skin);
  if (const char* reason = nothing_to_draw(*snapshot)) return draw_quiet_note(reason, room, skin);
  const SchemeText* text = text_of(snapshot->model.positions);
  if (!text || !snapshot->positions || snapshot->positions->empty())
    return draw_quiet_note("This look brought no positions.", room, skin);
  take_table(*snapshot, *text, view);
  if (text->alike) {
    draw_vectors(*snapshot, *text, view, textures, skin);
  } else {
    draw_biases(*snapshot, *text, view, textures, skin);
  }
}

void draw_positions(WorkspaceContext& context) {
  draw_positions(context.maps.newest.snapshot.get(), context.views.of<PositionsView>(), context.textures, context.skin);
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
