// Importance of heads: the increase of the held-out loss without each head, and with more and more heads pruned.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "analysis/head_agreement.h"
#include "analysis/matrix_algebra.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

// Null: the stack of that row has fewer heads.
const HeadImportance* importance_at(const CircuitView& view, int row, int col) {
  int at = -1;
  for (const HeadImportance& head : view.heads->heads) {
    at += head.place.head == 0;
    if (at == row && head.place.head == col) return &head;
  }
  return nullptr;
}

std::string summary(const HeadsResult& inspection, const ModelConfig& model) {
  const auto most = std::ranges::max_element(inspection.heads, {}, &HeadImportance::exact);
  // Loss budget in nats: the largest number of heads is pruned within it.
  constexpr double little = 0.01;
  std::size_t gone = 0;
  while (gone + 1 < inspection.pruning.size() && inspection.pruning[gone + 1].nll - inspection.nll < little) ++gone;
  std::string text =
      trf("{} matters most: without it the loss per token is {:.3f} nats above {:.3f}. {} of {} heads can be ablated "
          "together at a cost below {} nats per token. Rank correlation with the gradient-based estimate: {:.2f} "
          "(Spearman).",
          head_name(most->place, model), most->exact, inspection.nll, gone, inspection.heads.size(), little,
          agreement(inspection));
  if (inspection.first_masked_nll)
    text +=
        " " + trf("With the first token masked for all later ones, the loss is {:.3f}.", *inspection.first_masked_nll);
  return text;
}

// "encoder L1", with the first word in the window's language.
std::vector<std::string> row_names(const std::vector<std::string>& rows) {
  std::vector<std::string> names;
  for (const std::string& row : rows) {
    const std::size_t space = std::min(row.find(' '), row.size());
    names.push_back(std::string(tr(std::string_view(row).substr(0, space))) + row.substr(space));
  }
  return names;
}

void draw_map(WorkspaceContext& context, CircuitView& view, ImVec2 size) {
  const Skin& skin = context.skin;
  std::vector<std::string> cols;
  for (int head = 0; head < view.importance.cols; ++head) cols.push_back(fmt::format("H{}", head + 1));
  const std::vector<std::string> rows = row_names(view.importance_rows);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  const float range = std::max(0.1F, color_range(view.importance.values));
  options.low = -range;
  options.high = range;
  options.square = false;
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = tr("attention type, layer");
  options.col_axis = tr("head");
  options.tooltip = [&](int row, int col) {
    const HeadImportance* found = importance_at(view, row, col);
    if (!found) return dim_text(tr("This stack has fewer heads."), skin);
    const HeadImportance& head = *found;
    bold_text(rows[static_cast<std::size_t>(row)] + " " + cols[static_cast<std::size_t>(col)], skin);
    dim_text(tr("loss without it \u2212 loss"), skin);
    bold_text(
        trf("{:.4f} \u2212 {:.4f} = {:+.4f} nats per token", view.heads->nll + head.exact, view.heads->nll, head.exact),
        skin);
    dim_text(trf("E|\u2202L/\u2202\u03BE| = {:.4f} nats per sentence", head.fast), skin);
    if (view.heads->first_masked_nll) dim_text(trf("Mean weight on the first token: {:.2f}", head.first), skin);
  };
  draw_heatmap("importance", view.importance, view.version, size, options, context.textures, skin);
}

void draw_pruning(CircuitView& view, const ModelConfig& model, ImVec2 size, const Skin& skin) {
  const PlotLine line{.name = tr("nats per token"), .series = &view.pruning, .color = skin.theme.series[0]};
  const PruningPoint& first = view.heads->pruning[1];
  draw_plot("pruning", {&line, 1}, size, view.pruning_axis, view.pruning_plot,
            {.title = tr("Nats/token by remaining heads"),
             .help = trf("Heads are ablated one after another, the least important first (Michel et al. 2019, arXiv "
                         "1905.10650, \u00A74). The first one is {}.",
                         head_name(first.off, model)),
             .x_label = tr("heads left"),
             .legend = false,
             .whole_x = true},
            skin);
}

// ---- over training

void ask_for_history(WorkspaceContext& context, CircuitView& view) {
  const bool working = context.studying || context.study.has_value();
  if (working || !context.live || view.history_of == context.live->run) return;
  view.history_of = context.live->run;
  view.heads_history.reset();
  context.study = HeadsHistoryQuestion{};
}

void draw_history_map(WorkspaceContext& context, CircuitView& view, ImVec2 size) {
  const Skin& skin = context.skin;
  const std::vector<std::string> rows = row_names(view.history_rows);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  const float range = std::max(0.1F, color_range(view.history.values));
  options.low = -range;
  options.high = range;
  options.square = false;
  options.row_labels = rows;
  options.col_labels = view.history_cols;
  options.row_axis = tr("head");
  options.col_axis = tr("optimizer steps");
  options.tooltip = [&](int row, int col) {
    const HeadsResult& inspection = view.heads_history->points[static_cast<std::size_t>(col)].inspection;
    const double exact = inspection.heads[static_cast<std::size_t>(row)].exact;
    bold_text(
        trf("{} at step {}", rows[static_cast<std::size_t>(row)], view.history_cols[static_cast<std::size_t>(col)]),
        skin);
    dim_text(tr("loss without it \u2212 loss"), skin);
    bold_text(trf("{:.4f} \u2212 {:.4f} = {:+.4f} nats per token", inspection.nll + exact, inspection.nll, exact),
              skin);
  };
  draw_heatmap("history", view.history, view.version, size, options, context.textures, skin);
}

void draw_prunings(CircuitView& view, ImVec2 size, const Skin& skin) {
  std::vector<PlotLine> lines;
  for (std::size_t i = 0; i < view.prunings.size(); ++i)
    lines.push_back({.name = view.pruning_names[i], .series = &view.prunings[i], .color = series_color(skin.theme, i)});
  draw_plot("prunings", lines, size, view.pruning_axis, view.pruning_plot,
            {.title = tr("Nats/token by remaining heads"),
             .help = tr("At each of these steps heads are ablated one after another, in the order of their importance "
                        "at that step, the least important first."),
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
                    ? tr("Ablating heads at every recorded step\u2026")
                    : tr("Not computed yet. Click Recompute to measure the loss without each head."));
  }
  const HeadsHistory& history = *view.heads_history;
  if (!history.problem.empty()) return note(tr_filled(history.problem).c_str());
  if (history.points.size() < 2) {
    return note(
        tr("This view compares earlier steps of the training, but no earlier weights were recorded. Train in this "
           "window, which records some, or set training.kept_checkpoints so that the run saves some."));
  }
  draw_caption(tr("Loss increase without the head, thousandths of a nat per token"),
               trf("{} held-out tokens, {} recorded steps", grouped(history.points.back().inspection.tokens),
                   history.points.size()),
               tr("A head becomes important where its row leaves white."), skin);
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
        fmt::format("{} {}", tr(part_name(head.place.part)), layer_and_head(head.place.layer, head.place.head)));
    numbers.matrix.at(row, 0) = static_cast<float>(head.exact);
    numbers.matrix.at(row, 1) = static_cast<float>(head.fast);
  }
  return numbers;
}

void draw_importance(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const auto note = [&](const char* text) { draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin); };
  if (!context.has_run)
    return note(tr("No run is open. Open or train one to measure how much each of its heads matters."));
  const bool working = context.studying || context.study.has_value();
  const bool stale = view.heads && context.live && (view.run != context.live->run);
  if (stale) view.heads.reset();
  ImGui::AlignTextToFramePadding();
  if (draw_choice(tr_label("now"), !view.over_training, tr("At the current step."), skin)) view.over_training = false;
  if (draw_choice(tr_label("over training"), view.over_training,
                  tr("At every step whose weights were recorded, on a few batches of the validation part."), skin))
    view.over_training = true;
  if (!view.over_training && !working && context.live && !view.heads && view.heads_of != context.live->run) {
    view.heads_of = context.live->run;
    context.study = HeadsQuestion{};
  }
  ImGui::BeginDisabled(working);
  if (ImGui::Button(tr_label("Recompute"))) {
    if (view.over_training) {
      view.history_of = 0;
    } else {
      context.study = HeadsQuestion{};
    }
  }
  ImGui::EndDisabled();
  help_tooltip(tr("Measures again with the current weights, on the validation part or, if it is large, on some of it."),
               skin);
  if (view.over_training) return draw_history(context, view);
  if (!view.heads)
    return note(working ? tr("Ablating one head after another\u2026")
                        : tr("Not computed yet. Click Recompute to measure the loss without each head."));
  if (!view.heads->problem.empty()) return note(tr_filled(view.heads->problem).c_str());
  ImGui::SameLine(0, skin.px(10));
  ImGui::AlignTextToFramePadding();
  dim_text(trf("step {}, {} held-out tokens", grouped(view.heads_step), grouped(view.heads->tokens)), skin);
  const ModelConfig& model = context.maps.complete.snapshot->model;
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, summary(*view.heads, model), skin);
  draw_caption(tr("Loss increase without the head, thousandths of a nat per token"), "",
               tr("Negative: the loss is lower without the head."), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14);
  const ImVec2 size{std::floor((room.x - gap) * 0.5F), room.y};
  draw_map(context, view, size);
  ImGui::SameLine(0, gap);
  draw_pruning(view, model, {0, room.y}, skin);
}

}  // namespace attnscope
