#include "shell/curves_panel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

#include "base/translation.h"
#include "common/clamped.h"
#include "common/matrix_text.h"
#include "config/comparison.h"
#include "messages/metrics.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// Draws a toggle button, highlighted while on. Returns true if pressed.
bool draw_toggle(const char* label, bool& on, const Skin& skin) {
  const Theme& theme = skin.theme;
  ImGui::PushStyleColor(ImGuiCol_Button, on ? mixed(theme.raised, theme.accent, 0.4F) : theme.raised);
  ImGui::PushStyleColor(ImGuiCol_Text, on ? theme.text : theme.text_dim);
  const bool pressed = ImGui::Button(label);
  ImGui::PopStyleColor(2);
  if (pressed) on = !on;
  return pressed;
}

void fit_everything(CurvesView& view) {
  view.axis.window.reset();
  view.weight_plot.window.reset();
  view.difference_plot.window.reset();
  for (PlotView& plot : view.plots) plot.window.reset();
}

void draw_controls(const Curves& curves, const Curves* other, CurvesView& view, const Skin& skin) {
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(skin.px(5), ImGui::GetStyle().ItemSpacing.y));
  float buttons = 0;
  for (const char* label : {tr("Log"), tr("Log x"), tr("Follow"), tr("Fit"), tr("CSV")})
    buttons += button_width(label) + skin.px(5);
  const float rest = clamped(ImGui::GetContentRegionAvail().x - buttons, skin.px(44), skin.px(160));
  ImGui::SetNextItemWidth(rest);
  number_slider("##smoothing", view.smoothing, 0.0F, 0.99F, rest < skin.px(84) ? "%.2f" : tr("smooth %.2f"), 0, skin);
  help_tooltip(
      tr("Smoothing of the curves: the weight of past values in the moving average. 0 shows only the raw curves."),
      skin);
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  next_in_row(button_width(tr("Log")), gap);
  draw_toggle(tr_label("Log"), view.log, skin);
  help_tooltip(tr("Shows the loss on a logarithmic axis."), skin);
  next_in_row(button_width(tr("Log x")), gap);
  if (draw_toggle(tr_label("Log x"), view.axis.log, skin)) view.axis.window.reset();
  help_tooltip(tr("Shows the steps on a logarithmic axis, so that early and late training are equally visible."), skin);
  next_in_row(button_width(tr("Follow")), gap);
  draw_toggle(tr_label("Follow"), view.axis.follow, skin);
  help_tooltip(tr("Keeps the newest steps in view while you are zoomed in."), skin);
  next_in_row(button_width(tr("Fit")), gap);
  if (ImGui::Button(tr_label("Fit"))) fit_everything(view);
  help_tooltip(tr("Shows the whole curves again (also: double-click a plot). The wheel zooms; with Shift only the "
                  "steps, with Ctrl only the values."),
               skin);
  next_in_row(button_width(tr("CSV")), gap);
  view.copied = ImGui::Button(tr_label("CSV"));
  if (view.copied) ImGui::SetClipboardText(curves_csv(curves, view.weights, other).c_str());
  help_tooltip(tr("Copies all curves to the clipboard as CSV, one row per step (downsampled for long runs)."), skin);
  ImGui::PopStyleVar();
}

PlotRange extent(const Curves& curves, const Curves* other, const CurvesView& view) {
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < metric_rows.size(); ++i) {
    lines.push_back({"", &curves[i].points()});
    if (other) lines.push_back({"", &(*other)[i].points()});
  }
  for (const WeightCurve& weight : view.weights) lines.push_back({"", &weight.series});
  PlotRange range = fitted_x(lines);
  if (view.axis.log) range = {std::max(range.low, 1.0), std::max(range.high, 2.0)};
  return range;
}

float legend_row_height(const Skin& skin) {
  return font_size(skin.fonts.small) + skin.px(4);
}

// Draws one line of the legend; returns true if its curve is to be removed.
bool draw_weight_name(const WeightCurve& weight, Color32 color, const Skin& skin) {
  const WithFont font(skin.fonts.small);
  Painter paint(skin);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float height = font_size(skin.fonts.small);
  const float cross = ImGui::CalcTextSize("✕").x + skin.px(10);
  const float width = std::max(skin.px(20), ImGui::GetContentRegionAvail().x - cross);
  const ImVec2 end{corner.x + width, corner.y + height};
  ImGui::InvisibleButton("name", {width, height});
  help_tooltip(weight.title + tr("\nIn: ") + weight.sentence, skin);
  paint.filled_rect({corner.x, corner.y + height * 0.42F},
                    {corner.x + skin.px(10), corner.y + height * 0.42F + skin.px(3)}, color, skin.px(1.5F));
  paint.push_clip(corner, end);
  paint.text(skin.fonts.small, {corner.x + skin.px(14), corner.y}, skin.theme.text, weight.title);
  paint.pop_clip();
  ImGui::SameLine(0, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {skin.px(4), 0});
  ImGui::PushStyleColor(ImGuiCol_Button, 0);
  const bool gone = ImGui::Button("✕", {cross, height});
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  help_tooltip(tr("Removes the curve."), skin);
  return gone;
}

constexpr const char* weights_help = mark(
    "Weight of the selected query on the selected key at every recorded step of the pinned sentence. Add a curve with "
    "“Plot weight” in the bar of recorded steps.");

// Starts at 0, so that heights are comparable.
PlotRange weight_limits(std::span<const WeightCurve> weights) {
  double largest = 0.1;
  for (const WeightCurve& weight : weights)
    for (const double y : weight.series.y) largest = std::max(largest, y);
  return {0, largest * 1.05};
}

void draw_weights(CurvesView& view, PlotRange x, float height, const Skin& skin) {
  const auto& colors = skin.theme.series;
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < view.weights.size(); ++i) {
    lines.push_back({view.weights[i].title, &view.weights[i].series, colors[i % colors.size()]});
  }
  draw_plot("weights", lines, {ImGui::GetContentRegionAvail().x, height}, view.axis, view.weight_plot,
            {.title = tr("Weight"),
             .help = tr(weights_help),
             .legend = false,
             .x_numbers = false,
             .x_data = x,
             .y_limits = weight_limits(view.weights)},
            skin);
  std::size_t gone = view.weights.size();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, skin.px(4)});
  for (std::size_t i = 0; i < view.weights.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    if (draw_weight_name(view.weights[i], lines[i].color, skin)) gone = i;
    ImGui::PopID();
  }
  ImGui::PopStyleVar();
  ImGui::Spacing();
  if (gone < view.weights.size()) view.weights.erase(view.weights.begin() + static_cast<std::ptrdiff_t>(gone));
}

constexpr float weights_height = 1.6F;  // relative to the lowest plots

struct MetricLines {
  std::size_t first;  // of the metrics that share the plot
  std::vector<PlotLine> lines;
};

PlotLine line_of(std::string_view name, const Curve& curve, Color32 color, double smoothing) {
  return {.name = name,
          .series = &curve.points(),
          .color = color,
          .smoothing = smoothing,
          .means = &curve.means(),
          .marks_gaps = true};
}

// Names for the lines of two runs: by metric, if several metrics share a plot.
struct BothNames {
  std::string_view key, a, b;
};
constexpr std::array both_names = {BothNames{"loss", "A", "B"},
                                   BothNames{"validation_nll", mark("A val."), mark("B val.")}};

// Not every model measures its accuracy, so that plot is never drawn empty.
bool is_absent(const std::vector<std::size_t>& metrics, std::span<const Curves* const> all) {
  const auto measured = [&](const Curves* curves) {
    return std::ranges::any_of(metrics, [&](std::size_t place) { return !(*curves)[place].points().x.empty(); });
  };
  return metrics.front() == metric("accuracy") && std::ranges::none_of(all, measured);
}

// A uses the colors at even indices and B those at odd ones, in every plot.
std::vector<MetricLines> plots_of_both(const Curves& a, const Curves& b, const CurvesView& view, const Skin& skin) {
  const auto& colors = skin.theme.series;
  std::vector<MetricLines> plots;
  for (const std::vector<std::size_t>& metrics : metrics_by_plot()) {
    if (is_absent(metrics, std::array{&a, &b})) continue;
    MetricLines plot{metrics.front(), {}};
    std::size_t next_color = 0;
    for (const std::size_t place : metrics) {
      if (place == metric("train_nll")) continue;  // four lines are enough in one plot
      const MetricRow& row = metric_rows[place];
      const auto named = std::ranges::find(both_names, row.key, &BothNames::key);
      const BothNames names = named == both_names.end() ? BothNames{row.key, "A", "B"} : *named;
      const double smoothing = row.line.noisy ? static_cast<double>(view.smoothing) : 0;
      plot.lines.push_back(line_of(names.a, a[place], colors[next_color++ % colors.size()], smoothing));
      plot.lines.push_back(line_of(names.b, b[place], colors[next_color++ % colors.size()], smoothing));
    }
    plots.push_back(std::move(plot));
  }
  return plots;
}

// Negative where A's loss is lower.
void draw_loss_difference(const Curves& a, const Curves& b, CurvesView& view, ImVec2 size, PlotRange x,
                          const Skin& skin) {
  const Series train = difference(a[metric("loss")], b[metric("loss")]);
  const Series validation = difference(a[metric("validation_nll")], b[metric("validation_nll")]);
  const std::array lines = {
      PlotLine{tr("train"), &train, skin.theme.series[4], static_cast<double>(view.smoothing)},
      PlotLine{tr("validation"), &validation, skin.theme.series[3]},
  };
  draw_plot("loss difference", lines, size, view.axis, view.difference_plot,
            {.title = tr("Loss, A \u2212 B"),
             .help = tr("Loss of A minus loss of B at every step that both runs have; below 0, A has the lower loss. "
                        "If their label smoothing differs, the training losses are not comparable."),
             .x_numbers = false,
             .x_data = x},
            skin);
}

constexpr float difference_height = 1.2F;  // relative to the lowest plots

// The plots with measurements; plots of all metrics before there are any.
std::vector<MetricLines> plots_of(const Curves& curves, const Curves* other, const CurvesView& view, const Skin& skin) {
  if (other) return plots_of_both(curves, *other, view, skin);
  const auto& colors = skin.theme.series;
  std::size_t next_color = 2;  // training and validation have the first two in every plot
  std::vector<MetricLines> measured;
  std::vector<MetricLines> empty;
  for (const std::vector<std::size_t>& metrics : metrics_by_plot()) {
    if (is_absent(metrics, std::array{&curves})) continue;
    MetricLines plot{metrics.front(), {}};
    std::size_t of_part = 0;
    for (const std::size_t place : metrics) {
      const MetricRow& row = metric_rows[place];
      const std::size_t color_index = metrics.size() > 1 ? of_part++ : next_color++;
      const Color32 color = colors[color_index % colors.size()];
      plot.lines.push_back(line_of(tr(row.line.name), curves[place], color, row.line.noisy ? view.smoothing : 0));
    }
    const bool any = std::ranges::any_of(metrics, [&](std::size_t place) { return !curves[place].points().x.empty(); });
    if (any) std::erase_if(plot.lines, [](const PlotLine& line) { return line.series->x.empty(); });
    (any ? measured : empty).push_back(std::move(plot));
  }
  return measured.empty() ? empty : measured;
}

void draw_metrics(const MetricLines& lines, CurvesView& view, ImVec2 size, PlotRange x, bool last, const Skin& skin) {
  const MetricRow& row = metric_rows[lines.first];
  const bool log = view.log && row.plot.log;
  PlotView& plot = view.plots[lines.first];
  if (std::exchange(plot.log, log) != log) plot.window.reset();
  draw_plot(row.key, lines.lines, size, view.axis, plot,
            {.title = tr(row.plot.title),
             .help = tr(row.plot.help),
             .legend_values = lines.lines.size() < 4,  // with both runs' losses there is room only for the names
             .x_numbers = last,
             .x_data = x,
             .best = lines.first == metric("loss") ? view.best_step : std::nullopt},
            skin);
}

}  // namespace

void draw_curves(const Curves& curves, CurvesView& view, const Skin& skin, const Curves* other) {
  view.plots.resize(metric_rows.size());
  draw_controls(curves, other, view, skin);
  if (!view.note.empty()) small_text(skin.theme.text_dim, view.note, skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  const float axis_height = font_size(skin.fonts.small) + skin.px(6);  // the last plot has the axis numbers
  const std::vector<MetricLines> plots = plots_of(curves, other, view, skin);
  const bool weights = !view.weights.empty();
  const float names = weights ? static_cast<float>(view.weights.size()) * legend_row_height(skin) + 3 * spacing : 0;
  const float gaps = static_cast<float>(plots.size() - (other ? 0 : 1)) * spacing;
  float total =
      (weights ? weights_height : 0) + (other ? difference_height : 0);  // total plot height, relative to the lowest
  for (const MetricLines& lines : plots) total += metric_rows[lines.first].plot.height;
  const float share = std::max(skin.px(44), (room.y - gaps - names - axis_height - 1) / total);
  const PlotRange x = extent(curves, other, view);

  for (std::size_t i = 0; i < plots.size(); ++i) {
    const bool last = i + 1 == plots.size();
    const float height = share * metric_rows[plots[i].first].plot.height + (last ? axis_height : 0);
    draw_metrics(plots[i], view, {room.x, height}, x, last, skin);
    if (i == 0 && other) draw_loss_difference(curves, *other, view, {room.x, share * difference_height}, x, skin);
    if (i == 0 && weights) draw_weights(view, x, share * weights_height, skin);
  }
}

void follow_history(std::vector<WeightCurve>& weights, const History& history) {
  std::erase_if(weights, [&](const WeightCurve& weight) { return weight.pinned && !history.find(weight.sentence); });
  for (WeightCurve& weight : weights) {
    const PinnedSentence* sentence = history.find(weight.sentence);
    weight.pinned = sentence != nullptr;
    if (!sentence) continue;  // about to be pinned
    const std::vector<Frame>& frames = sentence->frames;
    const Frame newest = frames.empty() ? nullptr : frames.back();
    if (weight.frames == frames.size() && weight.newest == newest) continue;
    weight.frames = frames.size();
    weight.newest = newest;
    weight.series = weight_curve(frames, weight.place, weight.row, weight.col);
  }
}

std::string curves_csv(const Curves& curves, std::span<const WeightCurve> weights, const Curves* other) {
  std::string csv = "step";
  std::vector<const Series*> series;
  for (const std::vector<std::size_t>& plot : metrics_by_plot())
    for (const std::size_t place : plot) {
      series.push_back(&curves[place].points());
      csv += fmt::format(",{}", metric_rows[place].column);
      if (!other) continue;
      series.push_back(&(*other)[place].points());
      csv += fmt::format(",{}_b", metric_rows[place].column);
    }
  for (const WeightCurve& weight : weights) {
    series.push_back(&weight.series);
    csv += ',' + csv_field(weight.title);
  }
  csv += '\n';
  std::map<double, std::vector<std::string>> rows;  // step → its measurements
  for (std::size_t column = 0; column < series.size(); ++column)
    for (std::size_t i = 0; i < series[column]->x.size(); ++i) {
      std::vector<std::string>& cells = rows[series[column]->x[i]];
      cells.resize(series.size());
      cells[column] = fmt::to_string(static_cast<float>(series[column]->y[i]));
    }
  for (const auto& [step, cells] : rows)
    fmt::format_to(std::back_inserter(csv), "{},{}\n", step, fmt::join(cells, ","));
  return csv;
}

}  // namespace attnscope
