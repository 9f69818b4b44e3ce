#include "shell/undo.h"

#include <imgui.h>

#include <utility>

#include "base/translation.h"
#include "shell/app_state.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"

namespace attnscope {
namespace {

using Direction = UndoHistory::Direction;

Chosen chosen(const AppState& scope) {
  const DecodingView& decoding = scope.views.of<DecodingView>();
  return {scope.a.run.run,
          scope.layout.sentence,
          scope.reference,
          scope.edited,
          scope.views.of<AttentionView>().interventions,
          decoding.prefix,
          decoding.prefix_ids,
          decoding.hypothesis};
}

// Restores everything except the run.
void choose_again(AppState& scope, const Chosen& wanted) {
  scope.layout.sentence = wanted.sentence;
  scope.reference = wanted.reference;
  scope.views.of<AttentionView>().interventions = wanted.interventions;
  DecodingView& decoding = scope.views.of<DecodingView>();
  decoding.prefix = wanted.prefix;
  decoding.prefix_ids = wanted.prefix_ids;
  decoding.hypothesis = wanted.hypothesis;
  if (scope.edited == wanted.edited) return;
  scope.edited = wanted.edited;
  if (has_run(scope) && with_live_fields(scope.a.run.config, scope.edited) != scope.a.run.config) adjust(scope);
}

std::vector<Chosen>& steps(UndoHistory& history, Direction direction) {
  return direction == Direction::back ? history.past : history.future;
}

// Performs the pending undo step once its run is open.
void take_step(AppState& scope, Direction direction) {
  UndoHistory& history = scope.undo;
  std::vector<Chosen>& from = steps(history, direction);
  std::vector<Chosen>& to = steps(history, direction == Direction::back ? Direction::forth : Direction::back);
  const Chosen wanted = std::move(from.back());
  from.pop_back();
  to.push_back(*std::move(history.present));
  choose_again(scope, wanted);
  history.present = chosen(scope);
}

void move(AppState& scope, Direction direction) {
  UndoHistory& history = scope.undo;
  std::vector<Chosen>& from = steps(history, direction);
  if (from.empty() || history.returning) return;
  const std::uint64_t run = from.back().run;
  if (run == scope.a.run.run) return take_step(scope, direction);
  const auto found = history.runs.find(run);
  if (found == history.runs.end()) {
    from.pop_back();
    notify(scope, Severity::warning, tr("That run was not saved and cannot be reopened."));
    return;
  }
  history.returning = {found->second.path, direction};
  scope.commands.emplace_back(found->second);
}

// Names the difference in one word.
const char* difference(const Chosen& now, const Chosen& other, const AppState& scope) {
  if (now.run != other.run) return scope.a.run.folder.empty() ? tr(" reset") : tr(" opening a run");
  if (now.sentence != other.sentence) return tr(" sentence");
  if (now.edited != other.edited) return tr(" setting");
  if (now.interventions != other.interventions) return tr(" intervention");
  return now.reference != other.reference ? tr(" reference") : tr(" output selection");
}

std::string title(const char* verb, const std::vector<Chosen>& steps, const AppState& scope) {
  if (steps.empty() || !scope.undo.present) return verb;
  return verb + std::string(difference(*scope.undo.present, steps.back(), scope));
}

}  // namespace

void settle_undo(AppState& scope) {
  UndoHistory& history = scope.undo;
  if (!has_run(scope) || history.returning || ImGui::IsAnyItemActive()) return;
  Chosen now = chosen(scope);
  if (history.present == now) return;
  if (history.present) {
    history.past.push_back(*std::move(history.present));
    history.future.clear();
    if (history.past.size() > max_undo) history.past.erase(history.past.begin());
  }
  history.present = std::move(now);
}

bool can_undo(const AppState& scope) {
  return !scope.undo.past.empty() && !scope.undo.returning;
}

bool can_redo(const AppState& scope) {
  return !scope.undo.future.empty() && !scope.undo.returning;
}

void undo(AppState& scope) {
  move(scope, Direction::back);
}

void redo(AppState& scope) {
  move(scope, Direction::forth);
}

std::string undo_title(const AppState& scope) {
  return title(tr("Undo"), scope.undo.past, scope);
}

std::string redo_title(const AppState& scope) {
  return title(tr("Redo"), scope.undo.future, scope);
}

void receive_in_undo(AppState& scope, std::uint64_t before) {
  UndoHistory& history = scope.undo;
  if (before != 0 && scope.a.run.before) history.runs[before] = *scope.a.run.before;
  const std::optional<UndoHistory::Return> returning = std::exchange(history.returning, std::nullopt);
  if (!returning || returning->folder != scope.a.run.folder) return;
  const std::uint64_t old_number = steps(history, returning->direction).back().run;
  for (std::vector<Chosen>* each : {&history.past, &history.future})
    for (Chosen& step : *each)
      if (step.run == old_number) step.run = scope.a.run.run;
  history.runs.erase(old_number);
  take_step(scope, returning->direction);
}

void give_up_return(AppState& scope) {
  scope.undo.returning.reset();
}

}  // namespace attnscope
