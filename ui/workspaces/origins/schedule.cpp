#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "plain/metrics.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

void draw_controls(const WorkspaceContext& context, ScheduleView& view, const Skin& skin) {
  draw_slider(
      {tr("d_model"), tr("The width of the model, D: a wider one learns more slowly. Keys: \u2191 and \u2193."), true},
      view.d_model, 8, widest_model, true, skin);
  draw_slider({tr("warm-up"), tr("Updates until the peak, w. Keys: \u2190 and \u2192.")}, view.warmup, 1,
              longest_warmup, true, skin);
  draw_slider({tr("factor"), tr("On the whole curve: 1 in the paper.")}, view.factor, 0.05, 20, "%.2f", true, skin);
  draw_slider({tr("updates"), tr("How far the curve is drawn.")}, view.updates, 100, most_planned, true, skin);
  next_in_row(button_width(tr("As the run")), skin.px(10));
  ImGui::BeginDisabled(!context.has_run);
  if (ImGui::Button(tr_label("As the run"))) take_run(view, context.config);
  ImGui::EndDisabled();
  help_tooltip(context.has_run ? tr("The run\u2019s own width, warm-up and factor. Key: Home.") : tr("No run is open."),
               skin);
}

void draw_peak(const ScheduleView& view, const Skin& skin) {
  const double peak = rate_at(view, view.warmup);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text,
                     trf("rate = {} \u00B7 D^\u22120.5 \u00B7 min(s^\u22120.5, s \u00B7 w^\u22121.5): up to {:.3g} at "
                         "update {}, half of it again at update {}",
                         number_text(view.factor, 2), peak, grouped(view.warmup), grouped(4LL * view.warmup)),
                     skin);
  help_tooltip(
      tr("Paper \u00A75.3. The line up to update w and the curve after it meet there at factor / \u221A(D \u00B7 w); "
         "after it the rate falls with the square root of the updates, so by half in four times as many."),
      skin);
}

}  // namespace

void draw_schedule(WorkspaceContext& context, OriginsView& origins) {
  const Skin& skin = context.skin;
  ScheduleView& view = origins.schedule;
  if (context.has_run && !view.begun) take_run(view, context.config);
  draw_controls(context, view, skin);
  settle(view);
  draw_peak(view, skin);
  const Series& measured = context.curves[metric("learning_rate")].points();
  const std::array lines = {
      PlotLine{.name = tr("schedule"), .series = &view.planned, .color = skin.theme.series[0]},
      PlotLine{.name = tr("this run"), .series = &measured, .color = skin.theme.series[1]},
  };
  view.axis.marker = view.warmup;
  const bool trained = !measured.x.empty();
  draw_plot("rates", std::span(lines).first(trained ? 2 : 1), {0, 0}, view.axis, view.plot,
            {.title = tr("Learning rate"),
             .help = tr("Of every update s. The upright line is the end of the warm-up. What the run has had so far "
                        "lies over it, on whatever schedule it learns."),
             .x_label = tr("update"),
             .x_data = PlotRange{0, static_cast<double>(view.updates)}},
            skin);
}

}  // namespace attnscope
