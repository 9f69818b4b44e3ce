// Translation quality by sentence length, also beyond the training lengths, for this run and others.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/origins/modes.h"

namespace attnscope {
namespace {

std::string name_of_snapshot(const LengthsView& view, std::size_t index) {
  return view.inspections[index].model + (index + 1 == view.inspections.size() ? tr(" (this run)") : "");
}

void draw_by_length(const char* id, const std::vector<Series>& series, LengthsView& view, PlotView& plot,
                    PlotOptions options, ImVec2 size, const Skin& skin) {
  std::vector<std::string> names;
  std::vector<PlotLine> lines;
  double longest = 1;
  for (std::size_t i = 0; i < series.size(); ++i) names.push_back(name_of_snapshot(view, i));
  for (std::size_t i = 0; i < series.size(); ++i) {
    lines.push_back({.name = names[i], .series = &series[i], .color = skin.theme.series[i]});
    if (!series[i].x.empty()) longest = std::max(longest, series[i].x.back());
  }
  const LengthResult& inspection = view.inspections.back();
  view.axis.marker = static_cast<double>(inspection.trained) + 0.5;
  longest = std::max(longest, *view.axis.marker);  // the line is always in view
  options.x_label = inspection.text ? tr("tokens read, this one included") : tr("words of the source");
  options.legend_values = false;
  options.whole_x = true;
  options.x_data = PlotRange{0, longest + 1};
  draw_plot(id, lines, size, view.axis, plot, options, skin);
}

}  // namespace

void ask_for_lengths(WorkspaceContext& context, LengthsView& view) {
  if (!context.live) return;
  view.asked_of = context.live->run;
  view.asked_step = context.live->step;
  context.study = LengthQuestion{};
}

std::optional<WorkspaceNumbers> length_numbers(const LengthsView& view) {
  if (view.inspections.empty()) return std::nullopt;
  const LengthResult& inspection = view.inspections.back();
  WorkspaceNumbers numbers{Matrix(static_cast<int>(inspection.points.size()), 3),
                           {},
                           {inspection.text ? "tokens" : "pairs", inspection.text ? "correct" : "exact",
                            "nats per token"},
                           "by length, " + inspection.model};
  int row = 0;
  for (const LengthPoint& point : inspection.points) {
    numbers.rows.push_back(fmt::format("length {}", point.length));
    numbers.matrix.at(row, 0) = static_cast<float>(point.pairs);
    numbers.matrix.at(row, 1) = static_cast<float>(point.exact);
    numbers.matrix.at(row++, 2) = static_cast<float>(point.nll.per_token());
  }
  return numbers;
}

void draw_lengths(WorkspaceContext& context, OriginsView& origins) {
  LengthsView& view = origins.lengths;
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run) return note(tr("No run is open. Open one to test it on short and long sentences."));
  const bool ended = context.live && context.live->step == context.config.training.steps &&
                     view.run == context.live->run && view.asked_step < context.live->step;
  if (!context.studying && context.live && (view.asked_of != context.live->run || ended))
    ask_for_lengths(context, view);
  const bool working = context.studying || context.study.has_value();
  ImGui::BeginDisabled(working);
  if (ImGui::Button(tr_label("Recompute"))) ask_for_lengths(context, view);
  ImGui::EndDisabled();
  help_tooltip(tr("Runs the measurement again with the current weights. Key: Home."), skin);
  next_in_row(button_width(tr("Clear other runs")), skin.px(6));
  ImGui::BeginDisabled(view.inspections.size() < 2);
  if (ImGui::Button(tr_label("Clear other runs"))) {
    LengthResult last = std::move(view.inspections.back());
    view.inspections.clear();
    take_lengths(view, std::move(last), view.run, view.step);
  }
  ImGui::EndDisabled();
  help_tooltip(tr("Removes the curves of runs that were open before."), skin);
  if (view.inspections.empty())
    return note(working ? tr("Evaluating sentences by length\u2026")
                        : tr("Not computed yet. Click Recompute to evaluate the model by sentence length."));
  const LengthResult& inspection = view.inspections.back();
  const std::string trained = inspection.text ? trf("Trained on windows of {} tokens", inspection.trained)
                                              : trf("Trained on sources of up to {} words", inspection.trained);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     trf("{} (vertical line); here on held-out data, at step {}. {}", trained, grouped(view.step),
                         tr_filled(inspection.problem)),
                     skin);
  if (inspection.points.empty()) return note(tr_filled(inspection.problem).c_str());
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const std::string exact_help =
      inspection.text
          ? std::string(
                tr("Share of the tokens that follow from those before them which are the model\u2019s most likely "
                   "token. Each batch of this corpus has new examples, here of twice the context."))
          : trf("Share of up to {} pairs per length whose greedy translation matches the reference word for word.",
                inspection.question.pairs_a_length);
  if (!view.exact.back().x.empty())
    draw_by_length("exact", view.exact, view, view.exact_plot,
                   {.title = inspection.text ? tr("Accuracy, %") : tr("Exact matches, %"),
                    .help = exact_help,
                    .y_limits = PlotRange{-3, 103}},
                   {0, std::floor(room.y / 2 - skin.px(4))}, skin);
  draw_by_length(
      "loss", view.loss, view, view.loss_plot,
      {.title = tr("Loss, nats per token"),
       .help = tr(
           "\u2212\u03A3 ln p / tokens, each given the tokens before it (teacher forcing), without label smoothing.")},
      {0, 0}, skin);
}

}  // namespace attnscope
