// Induction heads: their scores over training under the loss, the composition of heads, and what a head does to tokens.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/matrix_algebra.h"
#include "base/input.h"
#include "widgets/heatmap.h"
#include "workspaces/asked_once.h"
#include "workspaces/mechanisms/modes.h"

namespace attnscope {
namespace {

const HeadInduction& best(const InductionPoint& point, double HeadInduction::*score) {
  return *std::ranges::max_element(point.heads, {}, score);
}

std::string summary(const InductionResult& result) {
  const InductionPoint& now = result.points.back();
  const HeadInduction &induction = best(now, &HeadInduction::induction),
                      &previous = best(now, &HeadInduction::previous);
  return trf(
      "{:.1f} % of the repeated tokens are predicted ({} sequences of {} random tokens). In-context score {:+.2f} "
      "nats. Highest induction score: {:.2f}, {}. Highest previous-token score: {:.2f}, {}.",
      100 * now.accuracy, result.sequences, result.length, now.in_context, induction.induction,
      layer_and_head(induction.place.layer, induction.place.head), previous.previous,
      layer_and_head(previous.place.layer, previous.place.head));
}

std::string ablations(const InductionResult& result) {
  std::string text = trf("With the first token masked, {:.1f} % are predicted.", 100 * result.first_masked.accuracy);
  const InductionTrial &induction = result.without_induction, &others = result.without_others;
  if (induction.heads_off.empty()) return text;
  return text + " " +
         trf("Without the {} heads whose induction score is at least 0.5, {:.1f} %; without {} others, {:.1f} %.",
             induction.heads_off.size(), 100 * induction.accuracy, others.heads_off.size(), 100 * others.accuracy);
}

void draw_over_steps(InductionView& view, ImVec2 size, const Skin& skin) {
  const std::size_t heads = view.heads.size();
  struct Plot {
    const char* title;
    const char* help;
    std::size_t first, count;
  };
  const std::array plots = {
      Plot{tr("Loss of the repeated tokens, nats"),
           tr("Mean cross-entropy of the tokens that follow from an earlier occurrence, at every recorded step."), 0,
           1},
      Plot{tr("Induction score"),
           tr("Mean attention weight of a repeated token on the tokens after its earlier occurrences."), 1, heads},
      Plot{tr("Previous-token score"), tr("Mean attention weight of every token on the one before it."), 1 + heads,
           heads}};
  const float height = (size.y - 2 * ImGui::GetStyle().ItemSpacing.y) / 3;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    std::vector<PlotLine> lines;
    for (std::size_t line = 0; line < plots[i].count; ++line)
      lines.push_back({.name = i == 0 ? std::string_view(tr("loss")) : view.heads[line],
                       .series = &view.over_steps[plots[i].first + line],
                       .color = series_color(skin.theme, line)});
    draw_plot(plots[i].title, lines, {size.x, height}, view.axis, view.plots[i],
              {.title = plots[i].title,
               .help = plots[i].help,
               .x_label = i + 1 == plots.size() ? tr("optimizer steps") : "",
               .legend = i == 1,
               .legend_values = false,
               .x_numbers = i + 1 == plots.size(),
               .whole_x = true,
               .y_limits = i == 0 ? std::nullopt : std::optional(PlotRange{0, 1})},
              skin);
  }
}

void draw_scores(WorkspaceContext& context, InductionView& view, ImVec2 size) {
  const Skin& skin = context.skin;
  const std::vector<std::string> cols = {tr("previous"), tr("induction"), tr("first"), tr("copying")};
  const InductionPoint& now = view.study.result->points.back();
  std::optional<HeadPlace>& chosen = view.study.question.circuits_of;
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.low = -1;
  options.square = false;
  options.row_labels = view.heads;
  options.col_labels = cols;
  options.row_axis = tr("head");
  options.col_axis = tr("score");
  for (std::size_t i = 0; i < now.heads.size(); ++i)
    if (chosen == now.heads[i].place) options.selected_row = static_cast<int>(i);
  const HeatmapResult result = draw_heatmap("scores", view.scores, view.version, size, options, context.textures, skin);
  const int row = result.clicked ? result.row : result.label_clicked ? result.row_label : -1;
  if (row >= 0 && std::cmp_less(row, now.heads.size())) chosen = now.heads[static_cast<std::size_t>(row)].place;
}

constexpr std::array map_choices = {
    ChoiceText{
        InductionMap::ov, mark("OV circuit"),
        mark("Change of every output token's logit if a token is attended to: W_E W_V W_O W_U. A bright diagonal "
             "copies (Elhage et al. 2021). Exact without norms and feed-forward.")},
    ChoiceText{InductionMap::qk, mark("QK circuit"),
               mark("Score of a query token with a key token, without positions: W_E W_Q W_Kᵀ W_Eᵀ / √d_k.")},
    ChoiceText{
        InductionMap::k, mark("K-composition"),
        mark("How much of a later head's keys (row) comes from an earlier head (column): induction heads read the "
             "previous-token head in this way.")},
    ChoiceText{InductionMap::q, mark("Q-composition"),
               mark("How much of a later head's queries (row) comes from an earlier head (column).")},
    ChoiceText{InductionMap::v, mark("V-composition"),
               mark("How much of a later head's values (row) comes from an earlier head (column).")},
};

const Matrix* shown_matrix(const InductionView& view, const InductionResult& result) {
  const Composition& composition = result.composition;
  switch (view.map) {
    case InductionMap::k:
      return &composition.k;
    case InductionMap::q:
      return &composition.q;
    case InductionMap::v:
      return &composition.v;
    default:
      break;
  }
  if (!result.circuits) return nullptr;
  return view.map == InductionMap::qk ? &result.circuits->qk : &result.circuits->ov;
}

void draw_map(WorkspaceContext& context, InductionView& view, const InductionResult& result) {
  const Skin& skin = context.skin;
  for (const auto& choice : map_choices)
    if (draw_choice(tr_label(choice.title), view.map == choice.value, tr(choice.help), skin)) view.map = choice.value;
  end_choices();
  const Matrix* const matrix = shown_matrix(view, result);
  const bool of_tokens = view.map == InductionMap::qk || view.map == InductionMap::ov;
  const float highest = matrix && !matrix->empty() ? *std::ranges::max_element(matrix->values) : 0;
  if (!matrix || matrix->empty() || (!of_tokens && highest <= 0)) {
    return draw_quiet_note(of_tokens         ? tr("Click a head above to see what it does to every token.")
                           : matrix->empty() ? tr("Too many heads to compare every pair of them.")
                                             : tr("Too few layers: heads of one layer cannot compose."),
                           ImGui::GetContentRegionAvail(), skin);
  }
  if (of_tokens) {
    draw_wrapped_label(
        skin.fonts.small, skin.theme.text_dim,
        trf("{}: {:.0f} % of the OV circuit's eigenvalues have a positive real part",
            layer_and_head(result.circuits->place.layer, result.circuits->place.head), 100 * result.circuits->positive),
        skin);
  }
  HeatmapOptions options;
  const float range = of_tokens ? color_range(matrix->values) : 1;
  if (of_tokens) options.map = skin.theme.diverging;
  options.low = of_tokens ? -range : 0;
  options.high = of_tokens ? range : highest;
  options.square = false;
  options.row_labels = of_tokens ? result.circuits->tokens : view.heads;
  options.col_labels = options.row_labels;
  options.row_axis = view.map == InductionMap::ov   ? tr("attended token")
                     : view.map == InductionMap::qk ? tr("query")
                                                    : tr("later head");
  options.col_axis = view.map == InductionMap::ov   ? tr("output token")
                     : view.map == InductionMap::qk ? tr("key")
                                                    : tr("earlier head");
  options.print_values = !of_tokens;
  options.zoom = &view.zoom;
  const std::uint64_t version = view.version * map_choices.size() + static_cast<std::uint64_t>(view.map);
  draw_heatmap("token map", *matrix, version, {0, 0}, options, context.textures, skin);
}

}  // namespace

void draw_induction(WorkspaceContext& context, InductionView& view) {
  const Skin& skin = context.skin;
  const InductionResult* const result = asked_result(
      context, view.study, tr("Measuring the heads on random repeated tokens\u2026"), {.offers_experiments = true});
  if (!result) return;
  if (!view.study.question.circuits_of)
    view.study.question.circuits_of = best(result->points.back(), &HeadInduction::induction).place;
  draw_wrapped_label(skin.fonts.ui, skin.theme.text, summary(*result), skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim, ablations(*result), skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const float gap = skin.px(14);
  const ImGuiWindowFlags flags = ImGuiWindowFlags_NoScrollbar | view_flags();
  if (result->points.size() > 1) {
    const ImVec2 size{std::floor((room.x - gap) * 0.5F), room.y};
    ImGui::BeginChild("over steps", size, false, flags);
    draw_over_steps(view, size, skin);
    ImGui::EndChild();
    ImGui::SameLine(0, gap);
  }
  ImGui::BeginChild("heads", {0, room.y}, false, flags);
  draw_scores(context, view, {0, std::floor(ImGui::GetContentRegionAvail().y * 0.42F)});
  draw_map(context, view, *result);
  ImGui::EndChild();
}

}  // namespace attnscope
