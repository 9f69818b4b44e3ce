#include "workspaces/flow/spread.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

constexpr std::size_t median_level = 3;
static_assert(spread_levels[median_level] == 0.5);

// ---- numbers

const TensorSpread& shown_spread(const SpreadView& view, const TensorPoint& point) {
  return view.gradient && !view.activations ? point.gradient : point.values;
}

std::size_t shown_point(const SpreadView& view, const TensorHistory& history) {
  const std::size_t last = history.points.size() - 1;
  return view.point < 0 ? last : std::min(static_cast<std::size_t>(view.point), last);
}

double root_mean_square(const TensorSpread& spread) {
  return spread.count > 0 ? spread.norm / std::sqrt(static_cast<double>(spread.count)) : 0;
}

void make_lines(SpreadView& view) {
  view.medians = view.extremes = view.histogram = {};
  const TensorHistory* chosen = chosen_tensor(view);
  if (!chosen) return;
  for (const TensorPoint& point : chosen->points) {
    const TensorSpread& spread = shown_spread(view, point);
    const auto x = static_cast<double>(point.step);
    view.medians.x.push_back(x);
    view.medians.y.push_back(spread.quantiles[median_level]);
    for (const double end : {spread.least(), spread.largest()}) {
      view.extremes.x.push_back(x);
      view.extremes.y.push_back(end);
    }
  }
  const TensorSpread& spread = shown_spread(view, chosen->points[shown_point(view, *chosen)]);
  const auto bins = static_cast<double>(spread.histogram.size());
  view.bin = std::max(spread.largest() - spread.least(), 1e-12) / std::max(1.0, bins);
  for (std::size_t i = 0; i < spread.histogram.size(); ++i) {
    view.histogram.x.push_back(spread.least() + (static_cast<double>(i) + 0.5) * view.bin);
    view.histogram.y.push_back(spread.histogram[i]);
  }
}

// ---- questions

void ask(WorkspaceContext& context, SpreadView& view) {
  view.asked = TensorsQuestion{context.live ? context.live->source_text : ""};
  view.asked_run = context.live ? context.live->run : 0;
  context.study = *view.asked;
}

void ask_if_new(WorkspaceContext& context, SpreadView& view) {
  if (!context.live || context.studying || context.study) return;
  const bool same = view.asked && view.asked_run == context.live->run && view.asked->text == context.live->source_text;
  if (!same) ask(context, view);
}

bool is_answered(const WorkspaceContext& context, const SpreadView& view) {
  return view.inspection && context.live && view.run == context.live->run;
}

void draw_controls(WorkspaceContext& context, SpreadView& view) {
  const Skin& skin = context.skin;
  ImGui::AlignTextToFramePadding();
  const auto choose = [&](const char* title, bool activations, const char* help) {
    if (!draw_choice(title, view.activations == activations, help, skin)) return;
    view.activations = activations;
    view.point = -1;
    make_lines(view);
  };
  choose(tr_label("parameters"), false,
         tr("Learned parameters: every weight and bias, its gradient and its change per step."));
  choose(tr_label("activations"), true, tr("The activations of the sentence, as it is typed now, at every step."));
  ImGui::BeginDisabled(context.studying || !context.live);
  if (ImGui::Button(tr_label("Recompute"))) ask(context, view);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the analysis again with the current weights."), skin);
  if (!is_answered(context, view)) return;
  ImGui::SameLine(0, skin.px(10));
  ImGui::AlignTextToFramePadding();
  dim_text(trf("step {}", grouped(view.step)), skin);
}

void draw_findings(const SpreadView& view, const Skin& skin) {
  constexpr std::size_t told = 2;
  if (view.findings.empty()) {
    return draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                              tr("All values are finite, all tensors are trained, no layer is dead, and no step "
                                 "changes the weights by a tenth."),
                              skin);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(told, view.findings.size()); ++i) text += view.findings[i] + ". ";
  if (view.findings.size() > told) text += trf("And {} more.", view.findings.size() - told);
  draw_wrapped_label(skin.fonts.ui, skin.theme.warning, text, skin);
}

// ---- the list

// From the smallest to the largest value in the list, logarithmic.
struct LogScale {
  double low = std::numeric_limits<double>::max();
  double high = 0;

  void take(double value) {
    if (value <= 0 || !std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  float share(double value) const {
    if (value <= 0 || !std::isfinite(value) || high <= 0) return 0;
    const double range = std::log(high / low);
    return range > 0 ? static_cast<float>(0.06 + 0.94 * std::log(value / low) / range) : 1;
  }
};

struct Scales {
  LogScale values, gradients;
};

Scales scales_of(const std::vector<TensorHistory>& list) {
  Scales scales;
  for (const TensorHistory& history : list) {
    scales.values.take(root_mean_square(history.points.back().values));
    scales.gradients.take(root_mean_square(history.points.back().gradient));
  }
  return scales;
}

void tensor_tooltip(const TensorHistory& history, const Skin& skin) {
  const TensorPoint& point = history.points.back();
  ImGui::BeginTooltip();
  bold_text(history.name, skin);
  dim_text(trf("{} = {} values, \u221A(mean x\u00B2) = {:.3g}", fmt::join(history.shape, " \u00D7 "),
               grouped(point.values.count), root_mean_square(point.values)),
           skin);
  if (point.gradient.count > 0)
    dim_text(trf("gradient of a held-out batch: \u221A(mean g\u00B2) = {:.3g}", root_mean_square(point.gradient)),
             skin);
  if (newest_change(history) > 0)
    dim_text(history.last_update > 0
                 ? trf("\u2016\u0394w\u2016 / \u2016w\u2016 = {:.2g} in the newest step", history.last_update)
                 : trf("\u2016\u0394w\u2016 / \u2016w\u2016 = {:.2g} per step, net", point.change),
             skin);
  ImGui::EndTooltip();
}

// "encoder.0.self_attn.in_proj_weight", shortened; the tooltip has the full name.
std::string short_tensor_name(std::string name) {
  constexpr std::string_view layers = ".layers.";
  if (const auto at = name.find(layers); at != std::string::npos) name.replace(at, layers.size(), ".");
  return name;
}

// Draws the name, and on the right two bars: the magnitude of the values, and below it the gradient's.
bool draw_row(const TensorHistory& history, bool chosen, const Scales& scales, const Skin& skin) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float bars = std::floor(width * 0.2F), name = width - bars - skin.px(6);
  const bool clicked = ImGui::Selectable("##tensor", chosen, 0, {width, line});
  if (ImGui::IsItemHovered()) tensor_tooltip(history, skin);
  Painter paint(skin);
  const TensorPoint& point = history.points.back();
  const bool broken = point.values.not_finite > 0 || point.gradient.not_finite > 0;
  paint.text(skin.fonts.mono_small, {corner.x, corner.y + (line - font_size(skin.fonts.mono_small)) / 2},
             broken ? skin.theme.error : skin.theme.text,
             shortened(skin.fonts.mono_small, short_tensor_name(history.name), name));
  const float left = corner.x + width - bars;
  const auto bar = [&](float top, float share, Color32 color) {
    paint.filled_rect({left, corner.y + top}, {left + bars * share, corner.y + top + line * 0.38F}, color);
  };
  bar(line * 0.08F, scales.values.share(root_mean_square(point.values)), skin.theme.series[0]);
  bar(line * 0.54F, scales.gradients.share(root_mean_square(point.gradient)), skin.theme.series[1]);
  return clicked;
}

void draw_list(SpreadView& view, ImVec2 size, const Skin& skin) {
  const std::vector<TensorHistory>& list = *listed_tensors(view);
  draw_caption(view.activations ? tr("Activations") : tr("Parameters"),
               view.activations ? tr("size") : tr("size of values and gradient"),
               tr("\u221A(mean x\u00B2) on a log scale, from the smallest in the list to the largest, in the order of "
                  "the model. Red: some values are NaN or infinite. Arrow keys: next tensor, previous tensor."),
               skin);
  ImGui::SetNextItemWidth(size.x);
  ImGui::InputTextWithHint("##wanted", tr("filter by name"), &view.wanted);
  const Scales scales = scales_of(list);
  const std::vector<int> matching = matching_tensors(view);
  int& chosen = view.activations ? view.activation : view.parameter;
  ImGui::BeginChild("list", size, false, view_flags());
  if (matching.empty()) dim_text(tr("No name contains this text."), skin);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(matching.size()));
  while (clipper.Step()) {
    for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row) {
      const int i = matching[static_cast<std::size_t>(row)];
      ImGui::PushID(i);
      if (draw_row(list[static_cast<std::size_t>(i)], i == chosen, scales, skin)) {
        chosen = i;
        make_lines(view);
      }
      ImGui::PopID();
    }
  }
  ImGui::EndChild();
}

// ---- the selected tensor

void draw_boxes(const SpreadView& view, const TensorHistory& history, Painter& paint, const PlotFrame& frame,
                const Skin& skin) {
  const auto count = static_cast<float>(history.points.size());
  const float width = clamped(frame.width() / count * 0.5F, skin.px(3), skin.px(16));
  const Color32 color = skin.theme.series[view.gradient && !view.activations ? 1 : 0];
  for (std::size_t i = 0; i < history.points.size(); ++i) {
    const TensorSpread& spread = shown_spread(view, history.points[i]);
    if (spread.count == 0) continue;
    const float x = frame.x_at(static_cast<double>(history.points[i].step));
    const auto box = [&](std::size_t low, std::size_t high, float wide, Color32 filled) {
      paint.filled_rect({x - wide / 2, frame.y_at(spread.quantiles[high])},
                        {x + wide / 2, frame.y_at(spread.quantiles[low])}, filled);
    };
    box(0, 6, skin.px(1), faded(color, 0.6F));
    box(1, 5, width * 0.6F, faded(color, 0.35F));
    box(2, 4, width, faded(color, 0.75F));
    if (i == shown_point(view, history))
      paint.rect({x - width / 2 - skin.px(2), frame.low.y}, {x + width / 2 + skin.px(2), frame.high.y},
                 skin.theme.border, 0, skin.px(1));
  }
}

void draw_steps(SpreadView& view, const TensorHistory& history, float height, const Skin& skin) {
  const std::vector<PlotLine> lines = {
      {.name = tr("median"), .series = &view.medians, .color = skin.theme.text_dim},
      {.name = tr("extremes"), .series = &view.extremes, .color = faded(skin.theme.text_dim, 0)},
  };
  PlotOptions options{.title = view.gradient && !view.activations ? tr("Gradient by step") : tr("Values by step"),
                      .help = tr("For every recorded step: minimum to maximum, 5 to 95 %, 25 to 75 %, and the median. "
                                 "Click to see that step\u2019s histogram."),
                      .x_label = tr("optimizer steps"),
                      .legend = false,
                      .whole_x = true,
                      .movable = false};
  // The boxes of the first and the last step are as wide as the others.
  const auto first = static_cast<double>(history.points.front().step),
             last = static_cast<double>(history.points.back().step);
  const double margin = std::max(0.5, 0.04 * (last - first));
  options.x_data = PlotRange{first - margin, last + margin};
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    draw_boxes(view, history, paint, frame, skin);
    if (!ImGui::IsItemClicked()) return;
    const double at = frame.x_value(ImGui::GetMousePos().x);
    const auto nearest = std::ranges::min_element(
        history.points, {}, [&](const TensorPoint& point) { return std::abs(static_cast<double>(point.step) - at); });
    view.point = static_cast<int>(nearest - history.points.begin());
    make_lines(view);
  };
  draw_plot("steps", lines, {0, height}, view.steps_axis, view.steps_plot, options, skin);
}

void draw_histogram(SpreadView& view, const TensorPoint& point, const Skin& skin) {
  const PlotLine line{
      .name = tr("numbers"), .series = &view.histogram, .color = skin.theme.series[2], .bar = view.bin * 0.92};
  const std::string title = trf("Histogram at step {}", grouped(point.step));
  draw_plot("histogram", {&line, 1}, {0, 0}, view.values_axis, view.values_plot,
            {.title = title,
             .help = tr("The number of values in each of 41 equal bins between the minimum and the maximum."),
             .x_label = view.gradient && !view.activations ? tr("gradient") : tr("value"),
             .legend = false},
            skin);
}

// "norm 12.3, mean 0.01, min -0.2, max 0.3, 0.0 % zero, 0.0 % NaN; one step changes it by 0.02 %."
std::string facts_text(const SpreadView& view, const TensorHistory& history, const TensorPoint& point) {
  const TensorSpread& spread = shown_spread(view, point);
  std::string text = trf("norm {:.4g}, mean {:.3g}, min {:.3g}, max {:.3g}, {:.1f} % zero, {:.1f} % NaN", spread.norm,
                         spread.mean, spread.least(), spread.largest(), 100 * spread.zeros, 100 * spread.not_finite);
  if (view.activations) return text + trf("; {:.1f} % of its units are 0 for every token.", 100 * spread.silent);
  if (&point == &history.points.back() && history.last_update > 0)
    text += trf("; the newest step changes it by {:.3g} %", 100 * history.last_update);
  else if (point.change > 0)
    text += trf("; net displacement since the previous recorded step: {:.3g} % per step", 100 * point.change);
  return text + ".";
}

void draw_chosen(SpreadView& view, const Skin& skin) {
  const TensorHistory& history = *chosen_tensor(view);
  const TensorPoint& point = history.points[shown_point(view, history)];
  draw_caption(
      history.name.c_str(), fmt::format("{}", fmt::join(history.shape, " \u00D7 ")),
      view.activations
          ? tr("The activations here for the sentence, without dropout.")
          : trf("The gradient is that of the mean loss of one held-out batch ({} sequences, {} target tokens), the "
                "same at every step, without dropout and label smoothing. The size of a step is that of the newest "
                "one, from the optimizer\u2019s moments, if they are available; otherwise the net displacement between "
                "two recorded steps is divided by their number, which is less if steps undo each other.",
                grouped(view.inspection->gradient_rows), grouped(view.inspection->gradient_tokens)),
      skin);
  if (!view.activations) {
    const auto choose = [&](const char* title, bool gradient, const char* help) {
      if (!draw_choice(title, view.gradient == gradient, help, skin)) return;
      view.gradient = gradient;
      make_lines(view);
    };
    choose(tr_label("values"), false, tr("The tensor's values."));
    choose(tr_label("gradient"), true, tr("The gradient of the loss: \u2202L/\u2202w."));
    end_choices();
  }
  if (view.gradient && !view.activations && point.gradient.count == 0)
    return draw_quiet_note(tr_filled(view.inspection->no_gradients).c_str(), ImGui::GetContentRegionAvail(), skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text, facts_text(view, history, point), skin);
  if (history.points.size() < 2)
    draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                       tr("No earlier weights were recorded. The window records some while it trains."), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_steps(view, history, std::floor(room.y / 2 - skin.px(4)), skin);
  draw_histogram(view, point, skin);
}

}  // namespace

void take_tensors(SpreadView& view, TensorsResult inspection, std::uint64_t run, std::int64_t step) {
  if (!view.asked || *view.asked != inspection.question || view.asked_run != run) return;
  view.run = run;
  view.step = step;
  view.findings = findings(inspection);
  view.inspection = std::move(inspection);
  view.point = -1;
  make_lines(view);
}

const std::vector<TensorHistory>* listed_tensors(const SpreadView& view) {
  if (!view.inspection) return nullptr;
  return view.activations ? &view.inspection->activations : &view.inspection->parameters;
}

const TensorHistory* chosen_tensor(const SpreadView& view) {
  const std::vector<TensorHistory>* list = listed_tensors(view);
  if (!list || list->empty()) return nullptr;
  const int chosen = view.activations ? view.activation : view.parameter;
  return &(*list)[static_cast<std::size_t>(clamped(chosen, 0, static_cast<int>(list->size()) - 1))];
}

std::vector<int> matching_tensors(const SpreadView& view) {
  const auto small = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  std::vector<int> matching;
  const std::vector<TensorHistory>* list = listed_tensors(view);
  const std::string wanted = small(view.wanted);
  for (std::size_t i = 0; list && i < list->size(); ++i) {
    const std::string& name = (*list)[i].name;
    if (small(name + ' ' + short_tensor_name(name)).find(wanted) != std::string::npos)
      matching.push_back(static_cast<int>(i));
  }
  return matching;
}

void move_in_spreads(SpreadView& view, int tensors, int points) {
  const TensorHistory* history = chosen_tensor(view);
  if (!history) return;
  int& chosen = view.activations ? view.activation : view.parameter;
  const std::vector<int> matching = matching_tensors(view);
  if (tensors != 0 && !matching.empty()) {
    // From an entry that is filtered out, moves to its neighbors in the list.
    const auto at = std::ranges::lower_bound(matching, chosen);
    const bool between = tensors > 0 && (at == matching.end() || *at != chosen);
    const std::ptrdiff_t next = at - matching.begin() + tensors - (between ? 1 : 0);
    chosen = matching[static_cast<std::size_t>(clamped<std::ptrdiff_t>(next, 0, std::ssize(matching) - 1))];
  }
  const int last = static_cast<int>(history->points.size()) - 1;
  view.point = clamped(static_cast<int>(shown_point(view, *history)) + points, 0, last);
  make_lines(view);
}

std::optional<WorkspaceNumbers> spread_numbers(const SpreadView& view) {
  const TensorHistory* history = chosen_tensor(view);
  if (!history) return std::nullopt;
  WorkspaceNumbers numbers{Matrix(static_cast<int>(history->points.size()), static_cast<int>(spread_levels.size()) + 5),
                           {},
                           {},
                           history->name + (view.gradient && !view.activations ? ", gradient" : "")};
  for (const double level : spread_levels) numbers.cols.push_back(fmt::format("{:g} %", 100 * level));
  for (const char* name : {"mean", "norm", "zeros", "NaN", "change an update"}) numbers.cols.emplace_back(name);
  for (int row = 0; row < numbers.matrix.rows; ++row) {
    const TensorPoint& point = history->points[static_cast<std::size_t>(row)];
    const TensorSpread& spread = shown_spread(view, point);
    numbers.rows.push_back(fmt::format("step {}", point.step));
    int col = 0;
    for (const double quantile : spread.quantiles) numbers.matrix.at(row, col++) = static_cast<float>(quantile);
    const double change = &point == &history->points.back() ? newest_change(*history) : point.change;
    for (const double number : {spread.mean, spread.norm, spread.zeros, spread.not_finite, change})
      numbers.matrix.at(row, col++) = static_cast<float>(number);
  }
  return numbers;
}

void draw_spread(WorkspaceContext& context, SpreadView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  ask_if_new(context, view);
  draw_controls(context, view);
  if (!is_answered(context, view)) {
    const bool working = context.studying || context.study.has_value();
    return note(working ? tr("Measuring every tensor\u2026")
                        : tr("Not computed yet. Click Recompute to measure every tensor."));
  }
  draw_findings(view, skin);
  if (!chosen_tensor(view)) return note(tr("Type a sentence to see its activations here."));
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float width = clamped(std::floor(room.x * 0.45F), skin.px(220), skin.px(520));
  ImGui::BeginGroup();
  draw_list(view, {width, 0}, skin);
  ImGui::EndGroup();
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("tensor", {0, 0}, false, view_flags());
  draw_chosen(view, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
