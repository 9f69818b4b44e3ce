// Which heads matter: what the held-out pairs cost more without each, and without more and more of them.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "base/numbers.h"
#include "base/translation.h"
#include "measures/matrix_algebra.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

const HeadImportance& importance_at(const CircuitView& view, int row, int col) {
  return view.heads->heads[static_cast<std::size_t>(row) * view.importance.cols + col];
}

std::string summary(const HeadsLook& look, const ModelConfig& model) {
  const auto most = std::ranges::max_element(look.heads, {}, &HeadImportance::exact);
  // As many as can go for a hundredth of a nat.
  constexpr double little = 0.01;
  std::size_t gone = 0;
  while (gone + 1 < look.pruning.size() && look.pruning[gone + 1].nll - look.nll < little) ++gone;
  return trf(
      "{} matters most: without it a piece costs {:.3f} nats more than {:.3f}. {} of {} heads can go together for less "
      "than {} nats. The fast estimate ranks them alike to {:.2f} (Spearman).",
      head_name(most->place, model), most->exact, look.nll, gone, look.heads.size(), little, agreement(look));
}

void draw_map(WorkspaceContext& context, CircuitView& view, ImVec2 size) {
  const Skin& skin = context.skin;
  std::vector<std::string> cols;
  for (int head = 0; head < view.importance.cols; ++head) cols.push_back(fmt::format("H{}", head + 1));
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  const float range = std::max(0.1F, color_range(view.importance.values));
  options.low = -range;
  options.high = range;
  options.square = false;
  options.row_labels = view.importance_rows;
  options.col_labels = cols;
  options.row_axis = tr("attention, layer");
  options.col_axis = tr("head");
  options.tooltip = [&](int row, int col) {
    const HeadImportance& head = importance_at(view, row, col);
    bold_text(view.importance_rows[static_cast<std::size_t>(row)] + " " + cols[static_cast<std::size_t>(col)], skin);
    dim_text(tr("nll without it \u2212 nll"), skin);
    bold_text(
        trf("{:.4f} \u2212 {:.4f} = {:+.4f} nats a piece", view.heads->nll + head.exact, view.heads->nll, head.exact),
        skin);
    dim_text(trf("E|\u2202L/\u2202\u03BE| = {:.4f} nats a sentence", head.fast), skin);
  };
  draw_heatmap("importance", view.importance, view.version, size, options, context.textures, skin);
}

void draw_pruning(CircuitView& view, const ModelConfig& model, ImVec2 size, const Skin& skin) {
  const PlotLine line{.name = tr("nats a piece"), .series = &view.pruning, .color = skin.theme.series[0]};
  const PruningPoint& first = view.heads->pruning[1];
  draw_plot("pruning", {&line, 1}, size, view.pruning_axis, view.pruning_plot,
            {.title = tr("Nats a piece by heads left"),
             .help = trf("Heads switched off one after another, the least important first (Michel et al. 2019, arXiv "
                         "1905.10650, \u00A73.2); the first to go is {}.",
                         head_name(first.off, model)),
             .x_label = tr("heads left"),
             .legend = false,
             .whole_x = true},
            skin);
}

// ---- over the training

void ask_for_history(WorkspaceContext& context, CircuitView& view) {
  const bool working = context.studying || context.study.has_value();
  if (working || !context.live || view.history_of == context.live->run) return;
  view.history_of = context.live->run;
  view.heads_history.reset();
  context.study = HeadsHistoryQuestion{};
}

void draw_history_map(WorkspaceContext& context, CircuitView& view, ImVec2 size) {
  const Skin& skin = context.skin;
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  const float range = std::max(0.1F, color_range(view.history.values));
  options.low = -range;
  options.high = range;
  options.square = false;
  options.row_labels = view.history_rows;
  options.col_labels = view.history_cols;
  options.row_axis = tr("head");
  options.col_axis = tr("optimizer updates");
  options.tooltip = [&](int row, int col) {
    const HeadsLook& look = view.heads_history->points[static_cast<std::size_t>(col)].look;
    const double exact = look.heads[static_cast<std::size_t>(row)].exact;
    bold_text(trf("{} at step {}", view.history_rows[static_cast<std::size_t>(row)],
                  view.history_cols[static_cast<std::size_t>(col)]),
              skin);
    dim_text(tr("nll without it \u2212 nll"), skin);
    bold_text(trf("{:.4f} \u2212 {:.4f} = {:+.4f} nats a piece", look.nll + exact, look.nll, exact), skin);
  };
  draw_heatmap("history", view.history, view.version, size, options, context.textures, skin);
}

void draw_prunings(CircuitView& view, ImVec2 size, const Skin& skin) {
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < view.prunings.size(); ++i)
    lines.push_back({.name = view.pruning_names[i],
                     .series = &view.prunings[i],
                     .color = skin.theme.series[i % skin.theme.series.size()]});
  draw_plot("prunings", lines, size, view.pruning_axis, view.pruning_plot,
            {.title = tr("Nats a piece by heads left"),
             .help = tr("At each of these steps heads are switched off one after another, those that matter least at "
                        "that step first."),
             .x_label = tr("heads left"),
             .legend_values = false,
             .whole_x = true},
            skin);
}

void draw_history(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  ask_for_history(context, view);
  if (!view.heads_history) {
    return note(context.studying || context.study
                    ? tr("Switching heads off at every step whose weights were recorded\u2026")
                    : tr("Nothing was measured: \u201Cagain\u201D does."));
  }
  const HeadsHistory& history = *view.heads_history;
  if (!history.problem.empty()) return note(history.problem.c_str());
  if (history.points.size() < 2) {
    return note(
        tr("No earlier weights were recorded: the window records some while it trains, and training.kept_checkpoints "
           "keeps some with a run."));
  }
  draw_caption(
      tr("What a piece costs more without the head, thousandths of a nat"),
      trf("{} held-out pieces, {} recorded steps", grouped(history.points.back().look.tokens), history.points.size()),
      tr("Where a row turns from white a head takes up work."), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14);
  draw_history_map(context, view, {std::floor((room.x - gap) * 0.6F), room.y});
  ImGui::SameLine(0, gap);
  draw_prunings(view, {0, room.y}, skin);
}

}  // namespace

std::optional<WorkspaceNumbers> importance_numbers(const CircuitView& view) {
  if (view.over_training && view.heads_history && !view.history.empty())
    return WorkspaceNumbers{view.history, view.history_rows, view.history_cols, "which heads matter, over training"};
  if (!view.heads || view.heads->heads.empty()) return std::nullopt;
  WorkspaceNumbers numbers{
      Matrix(static_cast<int>(view.heads->heads.size()), 2), {}, {"exact", "fast"}, "which heads matter"};
  for (int row = 0; row < numbers.matrix.rows; ++row) {
    const HeadImportance& head = view.heads->heads[static_cast<std::size_t>(row)];
    numbers.rows.push_back(
        fmt::format("{} {}", part_name(head.place.part), layer_and_head(head.place.layer, head.place.head)));
    numbers.matrix.at(row, 0) = static_cast<float>(head.exact);
    numbers.matrix.at(row, 1) = static_cast<float>(head.fast);
  }
  return numbers;
}

void draw_importance(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run) return note(tr("No run is open: there are no heads to switch off."));
  const bool working = context.studying || context.study.has_value();
  const bool stale = view.heads && context.live && (view.run != context.live->run);
  if (stale) view.heads.reset();
  ImGui::AlignTextToFramePadding();
  if (draw_choice(tr_label("now"), !view.over_training, tr("At the step that is looked at."), skin))
    view.over_training = false;
  if (draw_choice(tr_label("over the training"), view.over_training,
                  tr("At every step whose weights were recorded, over a few batches of the validation part."), skin))
    view.over_training = true;
  if (!view.over_training && !working && context.live && !view.heads && view.heads_of != context.live->run) {
    view.heads_of = context.live->run;
    context.study = HeadsQuestion{};
  }
  ImGui::BeginDisabled(working);
  if (ImGui::Button(tr_label("again"))) {
    if (view.over_training) {
      view.history_of = 0;
    } else {
      context.study = HeadsQuestion{};
    }
  }
  ImGui::EndDisabled();
  help_tooltip(tr("With the weights of this moment, over the validation part or, where it is large, some of it."),
               skin);
  if (view.over_training) return draw_history(context, view);
  if (!view.heads)
    return note(working ? tr("Switching heads off, one after another\u2026")
                        : tr("Nothing was measured: \u201Cagain\u201D does."));
  if (!view.heads->problem.empty()) return note(view.heads->problem.c_str());
  ImGui::SameLine(0, skin.px(10));
  ImGui::AlignTextToFramePadding();
  dim_text(trf("step {}, {} held-out pieces", grouped(view.heads_step), grouped(view.heads->tokens)), skin);
  const ModelConfig& model = context.maps.complete.snapshot->model;
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, summary(*view.heads, model), skin);
  draw_caption(tr("What a piece costs more without the head, thousandths of a nat"), "",
               tr("Negative: the model does better without it."), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14);
  const ImVec2 size{std::floor((room.x - gap) * 0.5F), room.y};
  draw_map(context, view, size);
  ImGui::SameLine(0, gap);
  draw_pruning(view, model, {0, room.y}, skin);
}

}  // namespace attnscope
