// The runs of a folder: a result against a setting with the fitted power, parallel coordinates, and the table.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "messages/metrics.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/mechanisms/modes.h"

namespace attnscope {
namespace {

constexpr std::string_view seed = "training.seed";
constexpr std::size_t most_settings = 40;  // a table has at most 64 columns

// Settings without their section: "d_model".
std::string title_of(const RunAxis& axis) {
  if (!axis.key.empty()) return std::string(axis.key.substr(axis.key.find('.') + 1));
  if (axis.result == lowest_validation) return tr("Lowest validation loss");
  if (axis.result == memorized_step) return tr("First step with 99 % training accuracy");
  if (axis.result == generalized_step) return tr("First step with 99 % validation accuracy");
  const MetricRow& row = metric_rows[axis.result];
  return row.line.name == MetricLine().name
             ? tr(row.plot.title.data())
             : fmt::format("{}: {}", tr(row.plot.title.data()), tr(row.line.name.data()));
}

std::string text_at(const RunAxis& axis, std::size_t run) {
  const std::optional<double>& value = axis.values[run];
  if (!value) return "–";
  return axis.names.empty() ? fmt::format("{:.5g}", *value) : axis.names[static_cast<std::size_t>(*value)];
}

std::string path_of(const RunsView& view, std::size_t run) {
  return view.listed.folder + "/" + view.listed.runs[run].name;
}

// ---- what follows from the runs and the choices

RunAxis with_range(RunAxis axis) {
  std::vector<double> values;
  for (const auto& value : axis.values)
    if (value) values.push_back(*value);
  if (values.empty()) return axis;
  const auto [low, high] = std::ranges::minmax(values);
  axis.range = {low, high};
  axis.log = axis.names.empty() && low > 0 && high >= 4 * low && axis.key != seed;
  return axis;
}

RunAxis axis_of_setting(const std::vector<ListedRun>& runs, std::string_view key) {
  RunAxis axis{.key = key, .values = {}, .names = {}, .range = {}};
  for (const ListedRun& run : runs) axis.values.push_back(setting_number(run, key));
  if (std::ranges::all_of(axis.values, &std::optional<double>::has_value)) return with_range(std::move(axis));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::string text = setting_text(runs[i], key);
    const auto found = std::ranges::find(axis.names, text);
    axis.values[i] = static_cast<double>(found - axis.names.begin());
    if (found == axis.names.end()) axis.names.push_back(text);
  }
  return with_range(std::move(axis));
}

RunAxis axis_of_result(const std::vector<ListedRun>& runs, std::size_t result) {
  RunAxis axis{.key = {}, .result = result, .values = {}, .names = {}, .range = {}};
  for (const ListedRun& run : runs) {
    const std::optional<double>& value = run.results[result];
    axis.values.push_back(value && std::isfinite(*value) ? value : std::nullopt);
  }
  return with_range(std::move(axis));
}

void fit_group(RunGroup& group, const RunAxis& x, const RunAxis& y) {
  std::map<double, std::pair<double, int>> sums;
  std::vector<double> xs, ys;
  for (const std::size_t run : group.runs) {
    xs.push_back(*x.values[run]);
    ys.push_back(*y.values[run]);
    sums[xs.back()].first += ys.back();
    ++sums[xs.back()].second;
  }
  for (const auto& [at, sum] : sums) {
    group.means.x.push_back(at);
    group.means.y.push_back(sum.first / sum.second);
  }
  if (x.names.empty() && x.key != seed) group.power = power_fit(xs, ys);
}

// After another choice of an axis.
void settle_chart(RunsView& view) {
  const RunAxis &x = view.axes[view.x], &y = view.axes[view.y];
  view.groups.clear();
  view.axis = {.log = x.log};
  view.plot = {.log = y.log};
  for (std::size_t run = 0; run < view.listed.runs.size(); ++run) {
    if (!x.values[run] || !y.values[run] || !view.listed.runs[run].finished) continue;
    std::vector<std::string> others;
    for (const RunAxis& axis : view.axes)
      if (!axis.key.empty() && axis.key != x.key && axis.key != seed)
        others.push_back(fmt::format("{}={}", title_of(axis), text_at(axis, run)));
    const std::string name = fmt::format("{}", fmt::join(others, ", "));
    auto group = std::ranges::find(view.groups, name, &RunGroup::name);
    if (group == view.groups.end())
      group = view.groups.insert(group, {.name = name, .runs = {}, .means = {}, .power = {}});
    group->runs.push_back(run);
  }
  for (RunGroup& group : view.groups) fit_group(group, x, y);
}

void settle_order(RunsView& view) {
  view.order.resize(view.listed.runs.size());
  std::iota(view.order.begin(), view.order.end(), std::size_t{0});
  const auto value = [&](std::size_t run) {  // by name they are in order; those without a value come last
    const std::optional<double> of_run = view.sorted_by == 0 ? static_cast<double>(run)
                                         : view.sorted_by == 1
                                             ? static_cast<double>(view.listed.runs[run].steps)
                                             : view.axes[static_cast<std::size_t>(view.sorted_by) - 2].values[run];
    return of_run ? (view.descending ? -*of_run : *of_run) : INFINITY;
  };
  std::ranges::stable_sort(view.order, {}, value);
}

// ---- the choices

bool draw_axis_choice(const char* id, const RunsView& view, std::size_t& chosen, const char* help, const Skin& skin) {
  const std::size_t before = chosen;
  const bool settings = !view.axes[chosen].key.empty();
  ImGui::SetNextItemWidth(skin.px(settings ? 150 : 230));
  if (begin_combo(id, title_of(view.axes[chosen]))) {
    for (std::size_t i = 0; i < view.axes.size(); ++i)
      if (view.axes[i].key.empty() != settings && selectable_text(title_of(view.axes[i]), i == chosen)) chosen = i;
    ImGui::EndCombo();
  }
  help_tooltip(help, skin);
  return chosen != before;
}

void draw_log_box(const char* label, bool& log, const RunAxis& axis, const Skin& skin) {
  next_in_row(checkbox_width(label), skin.px(10));
  ImGui::BeginDisabled(!axis.names.empty() || axis.range.low <= 0);
  ImGui::Checkbox(label, &log);
  ImGui::EndDisabled();
  help_tooltip(tr("A logarithmic axis. If both are logarithmic, a power is a straight line."), skin);
}

void draw_choices(WorkspaceContext& context, RunsView& view) {
  const Skin& skin = context.skin;
  bool changed = draw_axis_choice("##y", view, view.y,
                                  tr("The result on the vertical axis: the last value of a metric, the lowest "
                                     "validation loss, or the first step with 99 % accuracy."),
                                  skin);
  ImGui::SameLine(0, skin.px(8));
  dim_text(tr("against"), skin);
  ImGui::SameLine(0, skin.px(8));
  changed |= draw_axis_choice("##x", view, view.x,
                              tr("The setting on the horizontal axis. If other settings differ, too, each of their "
                                 "combinations has its own curve; seeds are averaged."),
                              skin);
  if (changed) settle_chart(view);
  draw_log_box(tr_label("Log x"), view.axis.log, view.axes[view.x], skin);
  draw_log_box(tr_label("Log y"), view.plot.log, view.axes[view.y], skin);
  next_in_row(button_width(tr("Read again")), skin.px(10));
  if (ImGui::Button(tr_label("Read again"))) context.path_wanted = view.listed.folder;
  help_tooltip(tr("Reads the folder again, for runs that were trained further or added."), skin);
}

// Names the runs that have not ended, and what could not be read.
void draw_complaints(const RunsView& view, const Skin& skin) {
  std::vector<std::string> all;
  for (const ListedRun& run : view.listed.runs)
    if (!run.finished)
      all.push_back(
          trf("{}: not finished, step {} of {}", run.name, grouped(run.steps), grouped(run.config.training.steps)));
  for (const std::string& complaint : view.listed.complaints) all.push_back(tr_filled(complaint));
  if (all.empty()) return;
  const std::string line = fmt::format("{}", fmt::join(all, " · "));
  draw_label(skin.fonts.small, skin.theme.warning, shortened(skin.fonts.small, line, ImGui::GetContentRegionAvail().x),
             skin);
  help_tooltip(fmt::format("{}", fmt::join(all, "\n")), skin);
}

// ---- drawn

struct Pointing {
  std::optional<std::size_t> run;
  bool clicked = false;
};

Pointing pointing_at(std::size_t run) {
  return {run, ImGui::IsMouseClicked(ImGuiMouseButton_Left)};
}

void run_tooltip(const RunsView& view, std::size_t run) {
  ImGui::BeginTooltip();
  plain_text(view.listed.runs[run].name);
  plain_text(fmt::format("{}: {}", title_of(view.axes[view.y]), text_at(view.axes[view.y], run)));
  ImGui::EndTooltip();
}

// With some room on both sides.
PlotRange widened(const RunAxis& axis, bool log) {
  const auto [low, high] = axis.range;
  const double factor = high > low ? std::pow(high / low, 0.06) : 2;
  const double room = high > low ? 0.06 * (high - low) : std::max(0.5, std::abs(low) / 2);
  return log ? PlotRange{low / factor, high * factor} : PlotRange{low - room, high + room};
}

// The fitted power, and the runs.
void draw_group(Painter& paint, const PlotFrame& frame, const RunsView& view, const RunGroup& group, Color32 color,
                const Skin& skin) {
  constexpr int last = 32;
  std::vector<ImVec2> line;
  for (int i = 0; group.power && i <= last; ++i) {
    const double low = group.means.x.front(), x = low * std::pow(group.means.x.back() / low, i / double{last});
    line.push_back({frame.x_at(x), frame.y_at(group.power->factor * std::pow(x, group.power->exponent))});
  }
  paint.polyline(line, faded(color, 0.45F), skin.px(3));
  for (const std::size_t run : group.runs) {
    const bool lit = view.pointed == run;
    paint.filled_circle({frame.x_at(*view.axes[view.x].values[run]), frame.y_at(*view.axes[view.y].values[run])},
                        skin.px(lit ? 5.5F : 3.5F), lit ? skin.theme.text : color);
  }
}

Pointing nearest_run(const PlotFrame& frame, const RunsView& view, const Skin& skin) {
  Pointing pointing;
  float least = skin.px(10);
  for (const RunGroup& group : view.groups)
    for (const std::size_t run : group.runs) {
      const float away = std::hypot(frame.x_at(*view.axes[view.x].values[run]) - ImGui::GetIO().MousePos.x,
                                    frame.y_at(*view.axes[view.y].values[run]) - ImGui::GetIO().MousePos.y);
      if (away < least) pointing = pointing_at(run);
      least = std::min(least, away);
    }
  return pointing;
}

Pointing draw_chart(RunsView& view, ImVec2 size, const Skin& skin) {
  const RunAxis &x = view.axes[view.x], &y = view.axes[view.y];
  const auto color_of = [&](std::size_t group) { return series_color(skin.theme, group); };
  std::vector<std::string> names;
  std::vector<PlotLine> lines;
  for (const RunGroup& group : view.groups) {
    names.push_back(group.name.empty() ? std::string(tr("mean")) : group.name);
    if (const auto& power = group.power)
      names.back() += fmt::format(", fit {:.3g} · {}^({:.3f} ± {:.3f}), R² {:.3f}", power->factor, title_of(x),
                                  power->exponent, power->error, power->r2);
  }
  for (std::size_t i = 0; i < view.groups.size(); ++i)
    lines.push_back({.name = names[i], .series = &view.groups[i].means, .color = color_of(i)});
  const std::string title = title_of(y), label = title_of(x);
  Pointing pointing;
  PlotOptions options{.title = title,
                      .help = tr("Points: runs. Thin line: their mean over the seeds. Broad line: the power of the "
                                 "setting that fits the logarithms best (arXiv 2001.08361); its exponent has the "
                                 "standard error. A click opens a run."),
                      .x_label = label,
                      .legend_values = false,
                      .x_names = x.names,
                      .whole_x = !x.names.empty() || x.key == seed,
                      .x_data = widened(x, view.axis.log),
                      .y_limits = widened(y, view.plot.log)};
  options.over = [&](Painter& paint, const PlotFrame& frame) {
    for (std::size_t i = 0; i < view.groups.size(); ++i)
      if (!is_hidden(view.plot, names[i])) draw_group(paint, frame, view, view.groups[i], color_of(i), skin);
    if (ImGui::IsItemHovered()) pointing = nearest_run(frame, view, skin);
  };
  draw_plot("results", lines, size, view.axis, view.plot, options, skin);
  return pointing;
}

// The point at which the run crosses the axis, from 0 to 1; empty: it has no value.
std::optional<float> share_of(const RunAxis& axis, std::size_t run) {
  const std::optional<double>& value = axis.values[run];
  const auto [low, high] = axis.range;
  if (!value || low == high) return value ? std::optional(0.5F) : std::nullopt;
  return static_cast<float>(axis.log ? std::log(*value / low) / std::log(high / low) : (*value - low) / (high - low));
}

float distance_to(ImVec2 at, ImVec2 from, ImVec2 to) {
  const ImVec2 along{to.x - from.x, to.y - from.y};
  const float length = along.x * along.x + along.y * along.y;
  const float t = ((at.x - from.x) * along.x + (at.y - from.y) * along.y) / std::max(1e-6F, length);
  return std::hypot(from.x + clamped(t, 0.0F, 1.0F) * along.x - at.x, from.y + clamped(t, 0.0F, 1.0F) * along.y - at.y);
}

// Parallel coordinates: the settings and the chosen result, one upright axis each.
struct ParallelAxes {
  std::vector<const RunAxis*> axes;
  ImVec2 low, high;  // corners of the area
  float apart = 0;   // between two axes

  ImVec2 at(std::size_t axis, float share) const {
    return {low.x + (static_cast<float>(axis) + 0.5F) * apart, high.y - share * (high.y - low.y)};
  }
  std::vector<ImVec2> line_of(std::size_t run) const {
    std::vector<ImVec2> line;
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (const auto share = share_of(*axes[i], run)) line.push_back(at(i, *share));
    return line;
  }
};

// The axis with its title below, and its limits or names.
void draw_axis(Painter& paint, const ParallelAxes& all, std::size_t index, const Skin& skin) {
  const RunAxis& axis = *all.axes[index];
  const float line = font_size(skin.fonts.small);
  const auto write = [&](ImVec2 at, Color32 color, const std::string& text) {
    const std::string shown = shortened(skin.fonts.small, text, all.apart - skin.px(6));
    paint.text(skin.fonts.small, {at.x - text_size(skin.fonts.small, shown).x / 2, at.y}, color, shown);
  };
  paint.line(all.at(index, 0), all.at(index, 1), skin.theme.border, skin.px(1.5F));
  const ImVec2 bottom = all.at(index, 0), top = all.at(index, 1);
  write({bottom.x, bottom.y + line * 1.6F}, skin.theme.text, title_of(axis));
  const bool named = !axis.names.empty();
  write({bottom.x, bottom.y + skin.px(3)}, skin.theme.text_dim,
        named ? axis.names.front() : fmt::format("{:.4g}", axis.range.low));
  write({top.x, top.y - line * 1.3F}, skin.theme.text_dim,
        named ? axis.names.back() : fmt::format("{:.4g}", axis.range.high));
  for (std::size_t i = 1; i + 1 < axis.names.size(); ++i) {
    const ImVec2 at = all.at(index, static_cast<float>(i) / static_cast<float>(axis.names.size() - 1));
    write({at.x, at.y - line * 1.1F}, skin.theme.text_dim, axis.names[i]);
  }
}

Pointing draw_parallel(RunsView& view, ImVec2 size, const Skin& skin) {
  ParallelAxes all;
  for (const RunAxis& axis : view.axes)
    if (!axis.key.empty()) all.axes.push_back(&axis);
  all.axes.push_back(&view.axes[view.y]);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float line = font_size(skin.fonts.small);
  all.low = {corner.x, corner.y + line * 1.6F};
  all.high = {corner.x + size.x, corner.y + size.y - line * 2.8F};
  all.apart = size.x / static_cast<float>(all.axes.size());
  ImGui::InvisibleButton("parallel", {std::max(1.0F, size.x), std::max(1.0F, size.y)});
  Painter paint(skin);
  Pointing pointing;
  float least = ImGui::IsItemHovered() ? skin.px(8) : 0;
  // The part of the color map that has contrast to the background.
  const float lowest = skin.theme.name == ThemeName::light ? 0 : 0.25F;
  for (std::size_t run = 0; run < view.listed.runs.size(); ++run) {
    const std::vector<ImVec2> points = all.line_of(run);
    for (std::size_t i = 1; i < points.size(); ++i) {
      const float away = distance_to(ImGui::GetIO().MousePos, points[i - 1], points[i]);
      if (away < least) pointing = pointing_at(run);
      least = std::min(least, away);
    }
    const Color32 color = map_color(ColorMap::viridis, lowest + 0.75F * share_of(*all.axes.back(), run).value_or(0));
    paint.polyline(points, faded(color, view.pointed ? 0.35F : 0.9F), skin.px(1.5F));
  }
  for (std::size_t i = 0; i < all.axes.size(); ++i) draw_axis(paint, all, i, skin);
  if (view.pointed) paint.polyline(all.line_of(*view.pointed), skin.theme.text, skin.px(3));
  return pointing;
}

// ---- the table

void draw_headings(RunsView& view) {
  ImGui::TableSetupScrollFreeze(1, 1);
  ImGui::TableSetupColumn(tr("run"), ImGuiTableColumnFlags_DefaultSort);
  ImGui::TableSetupColumn(tr("steps"));
  for (const RunAxis& axis : view.axes) ImGui::TableSetupColumn(title_of(axis).c_str());
  ImGui::TableHeadersRow();
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (!specs || !specs->SpecsDirty || specs->SpecsCount == 0) return;
  view.sorted_by = specs->Specs[0].ColumnIndex;
  view.descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
  specs->SpecsDirty = false;
  settle_order(view);
}

Pointing draw_table(WorkspaceContext& context, RunsView& view) {
  Pointing pointing;
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_Sortable | ImGuiTableFlags_NoSavedSettings;
  if (!ImGui::BeginTable("runs", static_cast<int>(view.axes.size()) + 2, flags)) return pointing;
  draw_headings(view);
  for (const std::size_t run : view.order) {
    const ListedRun& listed = view.listed.runs[run];
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    const bool lit = context.run.folder == path_of(view, run) || view.pointed == run;
    const bool pressed = selectable_text(listed.name, lit, ImGuiSelectableFlags_SpanAllColumns);
    if (ImGui::IsItemHovered() || pressed) pointing = {run, pressed};
    ImGui::TableNextColumn();
    plain_text(grouped(listed.steps));
    for (const RunAxis& axis : view.axes) {
      ImGui::TableNextColumn();
      plain_text(text_at(axis, run));
    }
  }
  ImGui::EndTable();
  return pointing;
}

}  // namespace

void take_runs(RunsView& view, RunsListed listed) {
  const bool again = view.listed.folder == listed.folder;
  const std::pair sorting{view.sorted_by, view.descending};
  view = RunsView();
  if (again) std::tie(view.sorted_by, view.descending) = sorting;
  view.listed = std::move(listed);
  const std::vector<ListedRun>& runs = view.listed.runs;
  if (runs.empty()) return;
  std::vector<std::string_view> keys = differing_keys(runs);
  if (keys.size() > most_settings) keys.resize(most_settings);
  for (const std::string_view key : keys) view.axes.push_back(axis_of_setting(runs, key));
  if (view.axes.empty()) view.axes.push_back(axis_of_setting(runs, seed));
  if (view.axes.size() > 1 && view.axes[0].key == seed) view.x = 1;
  view.y = view.axes.size();
  for (std::size_t i = 0; i < num_results; ++i) {  // the lowest validation loss first
    const std::size_t result = (i + lowest_validation) % num_results;
    const auto has_it = [&](const ListedRun& run) { return run.results[result].has_value(); };
    if (result == metric("loss") || std::ranges::any_of(runs, has_it))
      view.axes.push_back(axis_of_result(runs, result));
  }
  if (view.sorted_by >= std::ssize(view.axes) + 2) view.sorted_by = 0;
  settle_chart(view);
  settle_order(view);
}

void draw_runs(WorkspaceContext& context, RunsView& view) {
  const Skin& skin = context.skin;
  end_choices();
  if (view.listed.folder.empty()) {
    return draw_quiet_note(
        tr("This view compares the runs of a folder. attnscope sweep trains one run per combination of settings: open "
           "its folder with File, Open run, or drop it on the window."),
        ImGui::GetContentRegionAvail(), skin);
  }
  small_text(skin.theme.text_dim, trf("{}: {} runs", view.listed.folder, view.listed.runs.size()), skin);
  draw_complaints(view, skin);
  if (view.listed.runs.empty())
    return draw_quiet_note(tr("No run was found in this folder."), ImGui::GetContentRegionAvail(), skin);
  draw_choices(context, view);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 half{std::floor((room.x - skin.px(14)) / 2), std::floor(room.y * 0.6F)};
  Pointing pointing = draw_chart(view, half, skin);
  ImGui::SameLine(0, skin.px(14));
  if (const Pointing at = draw_parallel(view, half, skin); at.run) pointing = at;
  if (pointing.run) run_tooltip(view, *pointing.run);
  if (const Pointing at = draw_table(context, view); at.run) pointing = at;
  view.pointed = pointing.run;
  if (pointing.clicked) context.path_wanted = path_of(view, *pointing.run);
}

}  // namespace attnscope
