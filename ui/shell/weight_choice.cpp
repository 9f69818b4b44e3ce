#include "shell/weight_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "plain/pieces.h"
#include "shell/timeline.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

std::string weight_title(const Selection& chosen, const Snapshot& snapshot) {
  const Token& query = row_tokens(snapshot, chosen.place.part)[static_cast<std::size_t>(*chosen.row)];
  const Token& key = col_tokens(snapshot, chosen.place.part)[static_cast<std::size_t>(*chosen.col)];
  return fmt::format("{} → {} · {}", without_mark(query.piece), without_mark(key.piece),
                     place_text(chosen.place, snapshot.model));
}

}  // namespace

std::string weight_problem(const Scope& scope) {
  const ShownMaps maps = shown_maps(scope);
  const AttentionView& view = scope.views.of<AttentionView>();
  if (!maps.newest.snapshot || maps.lacks(view.part)) return "There is no attention to plot yet.";
  const Selection chosen = selection_in(view, *maps.of(view.part).snapshot);
  if (!chosen.row || !chosen.col) {
    return "Choose a query and a key in the attention workspace first: click a row's and a column's piece.";
  }
  if (scope.curves_view.weights.size() >= max_weight_curves) {
    return fmt::format("{} weights are plotted, and no more can be told apart: take one away first.",
                       max_weight_curves);
  }
  if (!is_pinned(scope) && !can_pin(scope)) return "The sentence cannot be pinned now.";
  return {};
}

void plot_weight(Scope& scope) {
  if (!weight_problem(scope).empty()) return;
  const AttentionView& view = scope.views.of<AttentionView>();
  const Snapshot& snapshot = *shown_maps(scope).of(view.part).snapshot;
  const Selection chosen = selection_in(view, snapshot);
  WeightCurve curve;
  curve.sentence = scope.layout.sentence;
  curve.place = chosen.place;
  curve.row = *chosen.row;
  curve.col = *chosen.col;
  curve.title = weight_title(chosen, snapshot);
  auto& weights = scope.curves_view.weights;
  const bool known = std::ranges::any_of(weights, [&](const WeightCurve& weight) {
    return weight.sentence == curve.sentence && weight.place == curve.place && weight.row == curve.row &&
           weight.col == curve.col;
  });
  if (!known) weights.push_back(std::move(curve));
  scope.layout.curves_open = true;
  if (!is_pinned(scope)) toggle_pin(scope);
}

}  // namespace attnscope
