#include "shell/head_actions.h"

#include <algorithm>
#include <optional>

#include "base/translation.h"
#include "shell/actions.h"
#include "shell/sentence.h"
#include "workspaces/attention/interventions.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

const AttentionView& view_of(const AppState& scope) {
  return scope.views.of<AttentionView>();
}

// Null if there is none.
const Snapshot* shown_snapshot(const AppState& scope) {
  const ShownMaps maps = shown_maps(scope);
  const AttentionPart part = view_of(scope).part;
  return maps.lacks(part) ? nullptr : maps.of(part).snapshot.get();
}

std::optional<Selection> chosen(const AppState& scope) {
  const Snapshot* inspection = shown_snapshot(scope);
  if (!inspection) return {};
  return selection_in(view_of(scope), *inspection);
}

HiddenKeys* hidden_of(Interventions& interventions, const HeadPlace& place) {
  const auto found = std::ranges::find(interventions.hidden, place, &HiddenKeys::place);
  return found == interventions.hidden.end() ? nullptr : &*found;
}

// The queries that the head's own mask allows to attend to the key.
std::vector<HiddenKeys::Cell> column_of(const Snapshot& inspection, const HeadPlace& place, int key) {
  const Matrix* map = map_at(inspection, place);
  std::vector<HiddenKeys::Cell> cells;
  for (int query = 0; map && query < map->rows; ++query)
    if (place.part != AttentionPart::decoder || key <= query) cells.push_back({query, key});
  return cells;
}

}  // namespace

bool has_head(const AppState& scope) {
  return head_problem(scope).empty();
}

std::string head_problem(const AppState& scope) {
  const Snapshot* inspection = shown_snapshot(scope);
  if (!inspection) return tr("Attention has not been computed yet.");
  if (inspection->model.is_recurrent()) return tr("A recurrent network has no attention heads.");
  if (is_recorded(*inspection)) return tr("No weights were recorded at this step.");
  return {};
}

bool is_head_off(const AppState& scope) {
  const auto selection = chosen(scope);
  const auto& off = view_of(scope).interventions.heads_off;
  return selection && std::ranges::find(off, selection->place) != off.end();
}

void switch_head(AppState& scope) {
  if (const auto selection = chosen(scope))
    toggle_head(scope.views.of<AttentionView>().interventions, selection->place);
}

bool is_layer_off(const AppState& scope) {
  const auto selection = chosen(scope);
  const auto& off = view_of(scope).interventions.layers_off;
  return selection && std::ranges::find(off, layer_of(selection->place)) != off.end();
}

void switch_layer(AppState& scope) {
  if (const auto selection = chosen(scope))
    toggle_layer(scope.views.of<AttentionView>().interventions, layer_of(selection->place));
}

std::string key_problem(const AppState& scope) {
  std::string problem = head_problem(scope);
  if (!problem.empty()) return problem;
  return chosen(scope)->col ? std::string() : tr("Select a key first: click a token at the head of a column.");
}

bool has_key(const AppState& scope) {
  return key_problem(scope).empty();
}

bool has_cell(const AppState& scope) {
  if (!has_key(scope)) return false;
  const Selection selection = *chosen(scope);
  return selection.row && (selection.place.part != AttentionPart::decoder || *selection.col <= *selection.row);
}

void force_cell(AppState& scope) {
  if (!has_cell(scope)) return;
  const Selection selection = *chosen(scope);
  force(scope.views.of<AttentionView>().interventions, {selection.place, *selection.row, *selection.col});
}

bool is_key_hidden(const AppState& scope) {
  if (!has_key(scope)) return false;
  const Selection selection = *chosen(scope);
  const auto& all = view_of(scope).interventions.hidden;
  const auto found = std::ranges::find(all, selection.place, &HiddenKeys::place);
  return found != all.end() &&
         std::ranges::find(found->cells, *selection.col, &HiddenKeys::Cell::key) != found->cells.end();
}

void hide_key(AppState& scope) {
  if (!has_key(scope)) return;
  const Selection selection = *chosen(scope);
  const bool shows = is_key_hidden(scope);
  Interventions& interventions = scope.views.of<AttentionView>().interventions;
  HiddenKeys* hidden = hidden_of(interventions, selection.place);
  if (!hidden) hidden = &interventions.hidden.emplace_back(HiddenKeys{selection.place, {}});
  std::erase_if(hidden->cells, [&](const HiddenKeys::Cell& cell) { return cell.key == *selection.col; });
  if (!shows) {
    const auto column = column_of(*shown_snapshot(scope), selection.place, *selection.col);
    hidden->cells.insert(hidden->cells.end(), column.begin(), column.end());
    std::ranges::sort(hidden->cells);
  }
  std::erase_if(interventions.hidden, [](const HiddenKeys& it) { return it.cells.empty(); });
}

void open_head(AppState& scope) {
  scope.views.of<AttentionView>().level = AttentionLevel::head;
  show_workspace(scope, *find_workspace("attention"));
}

void open_inside(AppState& scope) {
  scope.views.of<AttentionView>().level = AttentionLevel::inside;
  show_workspace(scope, *find_workspace("attention"));
}

}  // namespace attnscope
