// The measured cost of layer types by length, next to the paper's table 1.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "messages/cost.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

constexpr std::array expected_names = {"4nd\u00B2 + 2n\u00B2d", "nd\u00B2", "knd\u00B2"};

void draw_curves_of(const char* id, std::vector<Series>& curves, CostView& view, PlotView& plot, PlotOptions options,
                    bool expectations, ImVec2 size, const Skin& skin) {
  const CostResult& inspection = *view.inspection;
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const Color32 color = skin.theme.series[i];
    if (expectations)
      lines.push_back({.name = expected_names[i], .series = &view.expected[i], .color = faded(color, 0.4F)});
    lines.push_back({.name = tr(complexity(inspection.curves[i].layer).name), .series = &curves[i], .color = color});
  }
  options.x_label = tr("length n");
  options.legend_values = false;
  options.x_data = PlotRange{static_cast<double>(shortest_cost), static_cast<double>(longest_cost)};
  view.axis.marker = static_cast<double>(crossing(inspection.d_model));
  draw_plot(id, lines, size, view.axis, plot, options, skin);
}

// Draws the paper's table 1 with the measurements next to it.
void draw_table(const CostResult& inspection, const Skin& skin) {
  ImFont* font = skin.fonts.small;
  Painter paint(skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float line = font_size(font) + skin.px(5);
  const float room = ImGui::GetContentRegionAvail().x;
  const std::array columns = {0.0F, 0.17F, 0.29F, 0.42F, 0.53F, 0.70F, 0.86F};
  const auto row = [&](float y, Color32 color, const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      paint.text(font, {origin.x + room * columns[i], origin.y + y}, color, cells[i]);
  };
  row(0, skin.theme.text_dim,
      {tr("layer"), tr("operations"), tr("sequential"), tr("max path"), tr("time exponent"), tr("memory exponent"),
       tr("max n, ms")});
  float y = line;
  for (std::size_t i = 0; i < inspection.curves.size(); ++i) {
    const CostCurve& curve = inspection.curves[i];
    const LayerComplexity& of = complexity(curve.layer);
    const std::string name = curve.layer == CostLayer::recurrent ? fmt::format("{} ({})", tr(of.name), inspection.cell)
                                                                 : std::string(tr(of.name));
    const std::string longest = curve.points.empty() ? tr("none")
                                                     : fmt::format("{}: {:.1f}", curve.points.back().length,
                                                                   curve.points.back().milliseconds());
    row(y, skin.theme.series[i],
        {name, std::string(of.operations), std::string(of.sequential), std::string(of.path),
         fmt::format("{:.2f}", time_exponent(curve)), fmt::format("{:.2f}", memory_exponent(curve)), longest});
    y += line;
  }
  ImGui::Dummy({1, y});
}

}  // namespace

void ask_for_cost(WorkspaceContext& context, CostView& view) {
  if (!context.has_run) return;
  view.asked = true;
  view.run = context.live ? context.live->run : 0;
  context.study = CostQuestion{};
}

std::optional<WorkspaceNumbers> cost_numbers(const CostView& view) {
  if (!view.inspection) return std::nullopt;
  WorkspaceNumbers numbers{{}, {}, {"forward ms", "backward ms", "MB"}, "cost by length"};
  for (const CostCurve& curve : view.inspection->curves)
    for (const CostPoint& point : curve.points) {
      numbers.rows.push_back(fmt::format("{}, {} tokens", complexity(curve.layer).name, point.length));
      for (const double value : {point.forward_ms, point.backward_ms, point.megabytes})
        numbers.matrix.values.push_back(static_cast<float>(value));
    }
  numbers.matrix.rows = static_cast<int>(numbers.rows.size());
  numbers.matrix.cols = 3;
  return numbers;
}

void draw_cost(WorkspaceContext& context, OriginsView& origins) {
  CostView& view = origins.cost;
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run)
    return note(tr("No run is open. Open one to measure the cost of its layers; its width, heads and cell are used."));
  const std::uint64_t run = context.live ? context.live->run : view.run;
  if (!context.studying && context.live && (!view.asked || view.run != run)) ask_for_cost(context, view);
  const bool working = context.studying || context.study.has_value();
  ImGui::BeginDisabled(working);
  if (ImGui::Button(tr_label("Measure again"))) ask_for_cost(context, view);
  ImGui::EndDisabled();
  help_tooltip(tr("Times one layer of each type, with the run\u2019s width, forward and backward on one sentence; "
                  "training pauses meanwhile. Takes up to 30 seconds; cancel with the bar below. Key: Home."),
               skin);
  if (!view.inspection)
    return note(working ? tr("Measuring\u2026")
                        : tr("Not measured yet. Click Measure again to time one layer of each type."));
  const CostResult& inspection = *view.inspection;
  ImGui::SameLine(0, skin.px(10));
  ImGui::AlignTextToFramePadding();
  dim_text(trf("d_model {}, {} head{}, {}, k {}; {}", inspection.d_model, inspection.heads,
               inspection.heads == 1 ? "" : "s", inspection.cell, cost_kernel, inspection.device),
           skin);
  draw_table(inspection, skin);
  if (const std::string warning = disturbed(inspection); !warning.empty())
    draw_wrapped_label(skin.fonts.small, skin.theme.warning, tr_filled(warning), skin);
  for (const CostCurve& curve : inspection.curves)
    if (!curve.ended.empty())
      draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                         trf("{} stops there: {}.", tr(complexity(curve.layer).name), tr_filled(curve.ended)), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14);
  const ImVec2 size{std::floor((room.x - gap) * 0.58F), room.y};
  const std::string help =
      trf("Medians over several rounds. Faint: predicted from the multiplications, 4nd\u00B2 + 2n\u00B2d, 2Gnd\u00B2 "
          "for G gates, and knd\u00B2, scaled to the last point. The vertical line is n = 2\u00B7d_model = {}, where "
          "scores and averaging (2n\u00B2d) cost as much as the projections (4nd\u00B2).",
          crossing(inspection.d_model));
  draw_curves_of("times", view.measured, view, view.times, {.title = tr("Forward + backward pass, ms"), .help = help},
                 true, size, skin);
  ImGui::SameLine(0, gap);
  draw_curves_of("memory", view.held, view, view.memory,
                 {.title = tr("Memory, MB"),
                  .help = tr("Peak memory of the tensors in both passes, beyond parameters and input.")},
                 false, {0, room.y}, skin);
}

}  // namespace attnscope
