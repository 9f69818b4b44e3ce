// The toy model of superposition: its features as arrows in the two hidden dimensions, trained while you watch.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr int steps_per_frame = 40;   // about 2 ms
constexpr double least_length = 0.5;  // of the column of a represented feature

void draw_controls(SuperpositionView& view, const Skin& skin) {
  const bool done = view.steps >= most_toy_steps;
  if (icon_button(view.learning ? tr_label("Pause") : tr_label("Learn"), view.learning ? Icon::pause : Icon::play,
                  skin.theme.success, !done,
                  done ? tr("Training has ended. Restart it, or change a setting.")
                       : tr("Trains with Adam on new examples at every step. Key: Enter."),
                  skin))
    view.learning = !view.learning;
  ImGui::SameLine(0, skin.px(6));
  if (icon_button(tr_label("Restart"), Icon::reset, skin.theme.text, true,
                  tr("Trains again from other random weights. Key: Home."), skin))
    restart_with_next_seed(view);
  bool changed = draw_slider({tr("features"), tr("The number of features n. The hidden layer has two dimensions.")},
                             view.features.count, 2, most_toy_features, false, skin);
  changed |= draw_slider(
      {tr("sparsity"), tr("Probability that a feature of an example is 0; otherwise it is uniform between 0 and 1.")},
      view.features.sparsity, 0, 0.99, "%.2f", false, skin);
  changed |= draw_slider({tr("importance"), tr("Weight of each feature\u2019s error relative to the feature before it. "
                                               "1: all features are equally important.")},
                         view.features.importance, 0.3, 1, "%.2f", false, skin);
  if (changed) restart(view);
}

double length_of(const ToyModel& model, int feature) {
  return std::sqrt(model.product(feature, feature));
}

void draw_summary(const SuperpositionView& view, const Skin& skin) {
  int represented = 0;
  for (int feature = 0; feature < view.model.features(); ++feature)
    represented += length_of(view.model, feature) > least_length;
  draw_wrapped_label(
      skin.fonts.ui, skin.theme.text,
      trf("{} of {} features are represented in two dimensions (arrows longer than 0.5); step {}, loss {}", represented,
          view.model.features(), grouped(view.steps),
          view.losses.y.size() < 2 ? "" : number_text(view.losses.y[view.losses.y.size() - 2], 3)),
      skin);
  help_tooltip(
      tr("x\u2032 = ReLU(W\u1D40W x + b) must reproduce x. Dense features: only the two most important ones are "
         "represented, at right angles. Sparse features: more of them, in superposition, as digons, triangles "
         "or pentagons (2209.10652 \u00A72)."),
      skin);
}

void draw_arrow(Painter& paint, ImVec2 from, ImVec2 along, Color32 color, const Skin& skin) {
  const ImVec2 tip{from.x + along.x, from.y + along.y};
  const float length = std::hypot(along.x, along.y), head = std::min(skin.px(9), length / 2);
  paint.line(from, tip, color, skin.px(2.5F));
  if (length <= 0) return;
  const ImVec2 unit{along.x / length, along.y / length};
  for (const float side : {-0.5F, 0.5F})
    paint.line(tip, {tip.x - head * (unit.x + side * unit.y), tip.y - head * (unit.y - side * unit.x)}, color,
               skin.px(2.5F));
}

// The columns of W, in a square whose circle has radius 1.
void draw_columns(const ToyModel& model, const Skin& skin) {
  const ImVec2 low = ImGui::GetCursorScreenPos(), size = ImGui::GetContentRegionAvail();
  ImGui::Dummy(size);
  Painter paint(skin);
  const ImVec2 center{low.x + size.x / 2, low.y + size.y / 2};
  const float unit = std::min(size.x, size.y) / 2 / 1.35F;
  std::array<ImVec2, 65> circle;
  for (std::size_t i = 0; i < circle.size(); ++i) {
    const float angle = static_cast<float>(i) * 2 * std::numbers::pi_v<float> / 64;
    circle[i] = {center.x + unit * std::cos(angle), center.y + unit * std::sin(angle)};
  }
  paint.polyline(circle, skin.theme.border, skin.px(1));
  paint.line({center.x - unit, center.y}, {center.x + unit, center.y}, skin.theme.border, skin.px(1));
  paint.line({center.x, center.y - unit}, {center.x, center.y + unit}, skin.theme.border, skin.px(1));
  for (int feature = 0; feature < model.features(); ++feature) {
    const Color32 color = series_color(skin.theme, static_cast<std::size_t>(feature));
    const auto column = model.column(feature);
    const ImVec2 along{unit * static_cast<float>(column[0]), -unit * static_cast<float>(column[1])};
    draw_arrow(paint, center, along, color, skin);
    const float length = std::hypot(along.x, along.y);
    if (length < skin.px(12)) continue;
    const std::string name = std::to_string(feature + 1);
    const ImVec2 text = text_size(skin.fonts.bold, name.c_str());
    const float beyond = 1 + skin.px(12) / length;
    paint.text(skin.fonts.bold, {center.x + along.x * beyond - text.x / 2, center.y + along.y * beyond - text.y / 2},
               color, name);
  }
}

void draw_products(SuperpositionView& view, TextureStore& textures, const Skin& skin) {
  std::vector<std::string> names;
  for (int feature = 1; feature <= view.products.rows; ++feature) names.push_back(std::to_string(feature));
  std::vector<std::string> cols = names;
  cols.emplace_back("b");
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.low = -1;
  options.row_labels = names;
  options.col_labels = cols;
  options.row_axis = tr("feature");
  options.col_axis = tr("feature; bias");
  draw_label(skin.fonts.bold, skin.theme.text, "W\u1D40W, b", skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_heatmap("products", view.products, view.version, {0, std::floor(std::min(0.6F * room.y, 0.85F * room.x))},
               options, textures, skin);
  const PlotLine line{.name = tr("loss"), .series = &view.losses, .color = skin.theme.series[0]};
  draw_plot("losses", {&line, 1}, {0, 0}, view.axis, view.plot,
            {.title = tr("Reconstruction error"),
             .help = tr("\u03A3 importance \u00B7 (x \u2212 x\u2032)\u00B2, mean over 128 examples and 20 steps."),
             .x_label = tr("step"),
             .legend = false},
            skin);
}

}  // namespace

void draw_superposition(WorkspaceContext& context, OriginsView& origins) {
  const Skin& skin = context.skin;
  SuperpositionView& view = origins.superposition;
  draw_controls(view, skin);
  if (view.learning) learn(view, steps_per_frame);
  draw_summary(view, skin);
  draw_beside([&] { draw_columns(view.model, skin); }, [&] { draw_products(view, context.textures, skin); }, skin);
}

}  // namespace attnscope
