#include <fmt/format.h>
#include <imgui.h>

#include <array>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "messages/metrics.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

void draw_controls(const WorkspaceContext& context, ScheduleView& view, const Skin& skin) {
  draw_slider(
      {tr("d_model"), tr("The width of the model, D: a wider model gets a lower rate. Keys: \u2191 and \u2193."), true},
      view.d_model, 8, widest_model, true, skin);
  draw_slider({tr("warm-up"), tr("The number of steps until the peak, w. Keys: \u2190 and \u2192.")}, view.warmup, 1,
              longest_warmup, true, skin);
  draw_slider({tr("factor"), tr("Scales the whole curve; 1 in the paper.")}, view.factor, 0.05, 20, "%.2f", true, skin);
  draw_slider({tr("steps"), tr("The last step drawn.")}, view.updates, 100, most_planned, true, skin);
  next_in_row(button_width(tr("Use run's values")), skin.px(10));
  ImGui::BeginDisabled(!context.has_run);
  if (ImGui::Button(tr_label("Use run's values"))) take_run(view, context.config);
  ImGui::EndDisabled();
  help_tooltip(
      context.has_run ? tr("Sets the run\u2019s own width, warm-up and factor. Key: Home.") : tr("No run is open."),
      skin);
}

void draw_peak(const ScheduleView& view, const Skin& skin) {
  const double peak = rate_at(view, view.warmup);
  draw_wrapped_label(skin.fonts.ui, skin.theme.text,
                     trf("rate = {} \u00B7 D^\u22120.5 \u00B7 min(s^\u22120.5, s \u00B7 w^\u22121.5): peak {:.3g} at "
                         "step {}, half of it at step {}",
                         number_text(view.factor, 2), peak, grouped(view.warmup), grouped(4LL * view.warmup)),
                     skin);
  help_tooltip(
      tr("Paper \u00A75.3. The line up to step w and the curve after it meet at factor / \u221A(D \u00B7 w). After "
         "that the rate falls with the square root of the number of steps: it halves every time the steps quadruple."),
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
             .help = tr("The learning rate at every step s. The vertical line is the end of the warm-up. The rate that "
                        "the run has used so far is drawn over it, whatever its schedule."),
             .x_label = tr("step"),
             .x_data = PlotRange{0, static_cast<double>(view.updates)}},
            skin);
}

}  // namespace attnscope
