#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/input.h"
#include "base/numbers.h"
#include "base/pointed.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr float slider_room = 110;  // at scale 1

// Draws the label of a slider; the slider goes next to it.
void begin_slider(const SliderText& text, const Skin& skin) {
  if (!text.first) next_in_row(ImGui::CalcTextSize(text.word).x + skin.px(slider_room + 6), skin.px(14));
  ImGui::AlignTextToFramePadding();
  quiet_words(text.word, text.help, skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(slider_room));
}

ImGuiSliderFlags slider_flags(bool logarithmic) {
  return ImGuiSliderFlags_AlwaysClamp | (logarithmic ? ImGuiSliderFlags_Logarithmic : 0);
}

// The point within reach of the mouse.
std::optional<std::size_t> pointed(const PointsView& view, const PlotFrame& frame, const Skin& skin) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  std::optional<std::size_t> nearest;
  float least = skin.px(10);
  for (std::size_t i = 0; i < view.known.size(); ++i) {
    const float away = std::hypot(frame.x_at(view.known.keys[i]) - mouse.x, frame.y_at(view.known.values[i]) - mouse.y);
    if (away >= least) continue;
    least = away;
    nearest = i;
  }
  return nearest;
}

// Dragging moves a point, a click elsewhere adds one, and the right button removes one.
void handle_mouse(PointsView& view, const PlotFrame& frame, const Skin& skin) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const double x = frame.x_value(mouse.x), y = clamped(frame.y_value(mouse.y), frame.y.low, frame.y.high);
  if (ImGui::IsItemHovered()) view.query = clamped(static_cast<int>(std::lround(x * 10)), 0, 49);
  if (ImGui::IsItemActivated()) view.dragged = view.chosen = pointed(view, frame, skin);
  const ImVec2 delta = ImGui::GetIO().MouseDelta;
  const bool moved = delta.x != 0 || delta.y != 0;
  if (ImGui::IsItemActive() && view.dragged && moved) move_point(view, *view.dragged, x, y);
  if (ImGui::IsItemDeactivated()) {
    const ImVec2 dragged = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    const bool still = std::abs(dragged.x) + std::abs(dragged.y) < skin.px(4);
    if (!view.dragged && still && ImGui::IsItemHovered()) add_point(view, x, y);
    view.dragged.reset();
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Right))
    if (const auto point = pointed(view, frame, skin)) remove_point(view, *point);
  if (ImGui::IsItemHovered()) point_at_nothing();
}

// Round limits around all values, constant during a drag.
void fit_limits(PointsView& view) {
  if (view.dragged) return;
  double low = 0, high = 4;  // range of the clean values
  for (const double value : view.known.values) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  view.limits = {std::floor(low - 0.3), std::ceil(high + 0.3)};
}

void draw_query(Painter& paint, const PlotFrame& frame, double query, const Skin& skin) {
  const float x = frame.x_at(query);
  paint.line({x, frame.low.y}, {x, frame.high.y}, faded(skin.theme.warning, 0.7F), skin.px(1.5F));
}

void draw_average(Painter& paint, const PlotFrame& frame, double average, const Skin& skin) {
  const float y = frame.y_at(average), dash = skin.px(6);
  for (float x = frame.low.x; x < frame.high.x; x += 2 * dash)
    paint.line({x, y}, {std::min(x + dash, frame.high.x), y}, skin.theme.text_dim);
}

// Drawn over everything else, with its own background.
void name_average(Painter& paint, const PlotFrame& frame, double average, const Skin& skin) {
  const std::string_view text = tr("average pooling: the widest kernel");
  const ImVec2 size = text_size(skin.fonts.small, text);
  const ImVec2 corner{frame.high.x - size.x - skin.px(6), frame.y_at(average) - size.y / 2};
  paint.filled_rect({corner.x - skin.px(3), corner.y}, {corner.x + size.x + skin.px(3), corner.y + size.y},
                    faded(skin.theme.background, 0.85F), skin.px(2));
  paint.text(skin.fonts.small, corner, skin.theme.text_dim, text);
}

void draw_faint(Painter& paint, const PlotFrame& frame, const Series& series, const Skin& skin) {
  std::vector<ImVec2> points;
  for (std::size_t i = 0; i <= series.x.size(); ++i) {
    if (i < series.x.size() && std::isfinite(series.y[i])) {
      points.push_back({frame.x_at(series.x[i]), frame.y_at(series.y[i])});
      continue;
    }
    if (points.size() > 1) paint.polyline(points, faded(skin.theme.series[0], 0.45F), skin.px(1));
    points.clear();
  }
}

// A point's area is proportional to its weight.
void draw_weighted_points(Painter& paint, const PlotFrame& frame, const PointsView& view, const Matrix& weights,
                          const Skin& skin) {
  float largest = 1e-9F;
  for (int col = 0; col < weights.cols; ++col) largest = std::max(largest, weights.at(view.query, col));
  for (std::size_t i = 0; i < view.known.size(); ++i) {
    const ImVec2 at{frame.x_at(view.known.keys[i]), frame.y_at(view.known.values[i])};
    const auto col = static_cast<int>(i);
    const float share = col < weights.cols ? weights.at(view.query, col) / largest : 0;
    if (view.chosen == i) paint.filled_circle(at, skin.px(5 + 5 * std::sqrt(share)), skin.theme.text);
    paint.filled_circle(at, skin.px(2.5F + 5 * std::sqrt(share)), skin.theme.series[1]);
  }
}

void point_tooltip(const PointsView& view, std::size_t point, const Matrix& weights, const Skin& skin) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(
      trf("key x = {:.3f}, value y = {:.3f}", view.known.keys[point], view.known.values[point]).c_str());
  const auto col = static_cast<int>(point);
  if (col < weights.cols)
    dim_text(
        trf("weight {:.4f} for the query {:.1f}", static_cast<double>(weights.at(view.query, col)), view.query / 10.0),
        skin);
  dim_text(tr("drag: moves it; right button, or Delete: removes it"), skin);
  ImGui::EndTooltip();
}

void draw_points(PointsView& view, const PoolingPicture& picture, ImVec2 size, const Skin& skin) {
  fit_limits(view);
  const std::string title = trf("{} points", view.known.size());
  const bool average = picture.average && std::isfinite(*picture.average);
  PlotOptions options;
  options.title = title;
  options.help =
      tr("Keys and values, the known points, and the curve estimated from them. Drag a point to move it; click next to "
         "the points to add one; right-click or Delete removes one. Each point's size is its weight for the query "
         "under the mouse.");
  options.x_label = tr("query x");
  options.legend_values = false;
  options.x_data = PlotRange{0, last_key};
  options.y_limits = view.limits;
  options.movable = false;
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    for (const Series* series : {picture.low, picture.high})
      if (series) draw_faint(paint, frame, *series, skin);
    if (average) draw_average(paint, frame, *picture.average, skin);
    draw_query(paint, frame, view.query / 10.0, skin);
    draw_weighted_points(paint, frame, view, picture.weights, skin);
    if (average) name_average(paint, frame, *picture.average, skin);
    handle_mouse(view, frame, skin);
    if (!ImGui::IsItemHovered()) return;
    if (const auto point = pointed(view, frame, skin)) point_tooltip(view, *point, picture.weights, skin);
  };
  draw_plot("points", picture.lines, size, view.axis, view.plot, options, skin);
}

// `known` is the data that the weights were computed from; the mouse may just have changed the view's data.
void draw_weights(PointsView& view, const KeyedValues& known, const PoolingPicture& picture, TextureStore& textures,
                  const Skin& skin) {
  const Matrix& weights = picture.weights;
  if (weights.cols == 0)
    return draw_quiet_note(tr("There are no points. Click in the plot above to add one."),
                           ImGui::GetContentRegionAvail(), skin);
  std::vector<std::string> queries, keys;
  for (const double query : regression_queries()) queries.push_back(fmt::format("{:.1f}", query));
  for (const double key : known.keys) keys.push_back(fmt::format("{:.2f}", key));
  HeatmapOptions options;
  options.high = std::max(1e-6F, *std::ranges::max_element(weights.values));
  options.row_axis = tr("query x");
  options.col_axis = tr("key x_i");
  options.row_labels = queries;
  options.col_labels = keys;
  options.square = false;
  options.selected_row = view.query;
  if (view.chosen && *view.chosen < known.size()) options.selected_col = static_cast<int>(*view.chosen);
  options.tooltip = [&](int row, int col) {
    const double query = row / 10.0, key = known.keys[static_cast<std::size_t>(col)];
    const auto weight = static_cast<double>(weights.at(row, col));
    ImGui::TextUnformatted(trf("query x = {:.1f}, key x_i = {:.3f}: weight {:.5f}", query, key, weight).c_str());
    dim_text(picture.formula(query, key), skin);
    const double value = known.values[static_cast<std::size_t>(col)];
    dim_text(
        trf("adds {:.5f} · {} = {} to the estimate", weight, number_text(value, 3), number_text(weight * value, 4)),
        skin);
  };
  const HeatmapResult result = draw_heatmap("weights", weights, picture.version, {0, 0}, options, textures, skin);
  if (result.row >= 0) view.query = result.row;
  if (result.clicked) view.chosen = static_cast<std::size_t>(result.col);
}

}  // namespace

bool draw_slider(const SliderText& text, double& value, double low, double high, const char* format, bool logarithmic,
                 const Skin& skin) {
  begin_slider(text, skin);
  ImGui::PushID(text.word);
  const bool changed = number_slider("##value", value, low, high, format, slider_flags(logarithmic), skin);
  ImGui::PopID();
  help_tooltip(text.help, skin);
  return changed;
}

bool draw_slider(const SliderText& text, int& value, int low, int high, bool logarithmic, const Skin& skin) {
  begin_slider(text, skin);
  ImGui::PushID(text.word);
  const bool changed = number_slider("##value", value, low, high, "%d", slider_flags(logarithmic), skin);
  ImGui::PopID();
  help_tooltip(text.help, skin);
  return changed;
}

void draw_point_controls(PointsView& view, const Skin& skin) {
  double noise = view.noise;
  const SliderText text{
      tr("noise"),
      tr("Standard deviation of the noise added to 2 sin x + x: the values move away from the curve, or back.")};
  if (draw_slider(text, noise, 0.1, 2, "%.2f", false, skin)) set_noise(view, noise);
  next_in_row(button_width(tr("New points")), skin.px(10));
  if (ImGui::Button(tr_label("New points"))) redraw(view);
  help_tooltip(tr("Draws 40 new keys, uniform on [0, 5], with values 2 sin x + x + noise."), skin);
}

void draw_pooling(PointsView& view, const PoolingPicture& picture, TextureStore& textures, const Skin& skin) {
  const KeyedValues known = view.known;
  draw_points(view, picture, {0, std::floor(ImGui::GetContentRegionAvail().y * 0.52F)}, skin);
  draw_weights(view, known, picture, textures, skin);
}

void draw_beside(const std::function<void()>& left, const std::function<void()>& right, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(16);
  const ImGuiWindowFlags child_flags =
      ImGuiWindowFlags_NoScrollbar | view_flags();  // keys are handled by the view
  ImGui::BeginChild("left", {std::floor((room.x - gap) * 0.6F), room.y}, false, child_flags);
  left();
  ImGui::EndChild();
  ImGui::SameLine(0, gap);
  ImGui::BeginChild("right", {0, room.y}, false, child_flags);
  right();
  ImGui::EndChild();
}

}  // namespace attnscope
