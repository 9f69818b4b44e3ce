#include "shell/app_state.h"

#include <algorithm>
#include <utility>

namespace attnscope {
namespace {

constexpr std::size_t most_toasts = 50;

// For a recorded frame, prefers the forward pass through its step's weights once it is available.
ShownMaps maps_of(const RunView& view) {
  const Snapshot* past = view.past.snapshot.get();
  if (!past) return {view.newest, view.complete};
  const Snapshot* inspection = view.inspection.snapshot.get();
  const bool of_past = inspection && inspection->run == past->run && inspection->step == past->step &&
                       inspection->source_text == past->source_text;
  const Shown& shown = of_past ? view.inspection : view.past;
  return {shown, shown};
}

const RunView& run_at(const AppState& scope, RunSide side) {
  return side == RunSide::b && scope.b ? *scope.b : scope.a;
}

}  // namespace

ShownMaps shown_maps(const AppState& scope) {
  return maps_of(shown_run(scope));
}

ShownMaps shown_maps(const AppState& scope, RunSide side) {
  return maps_of(run_at(scope, side));
}

RunSide shown_side(const AppState& scope) {
  return scope.b && scope.comparing.side == DisplayedSide::b ? RunSide::b : RunSide::a;
}

const RunView& shown_run(const AppState& scope) {
  return run_at(scope, shown_side(scope));
}

std::optional<std::int64_t> inspected_step(const AppState& scope) {
  const Snapshot* past = scope.a.past.snapshot.get();
  if (!past || !std::ranges::binary_search(scope.a.status.recorded_weights, past->step)) return std::nullopt;
  return past->step;
}

bool may_control(const AppState& scope) {
  return scope.rights != Rights::watch;
}

bool may_replace(const AppState& scope) {
  return scope.rights == Rights::owner;
}

bool has_run(const AppState& scope) {
  return scope.a.run.run != 0;
}

Language language_of(const AppState& scope) {
  return scope.layout.language.value_or(scope.translations.system);
}

void speak_language(const AppState& scope) {
  speak(scope.translations.catalogues[static_cast<std::size_t>(language_of(scope))]);
}

ThemeName theme_of(const AppState& scope) {
  return scope.layout.theme.value_or(scope.facts.theme);
}

Toast& notify(AppState& scope, Severity severity, std::string text) {
  const auto same = [&](const Toast& toast) {
    return toast.message.severity == severity && toast.message.text == text;
  };
  // A repeated message is shown only once, with a new start time.
  std::erase_if(scope.toasts, same);
  scope.toasts.push_back({{severity, std::move(text)}});
  if (scope.toasts.size() > most_toasts) scope.toasts.erase(scope.toasts.begin());
  return scope.toasts.back();
}

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t") == std::string::npos;
}

bool animating(const AppState& scope) {
  const Workspace& workspace = *scope.layout.workspace;
  const bool busy = workspace.is_busy && workspace.is_busy(scope.views);
  const bool exporting = scope.exports.picture || scope.exports.film;
  return busy || exporting || scope.lessons.file || scope.timeline.playing ||
         std::ranges::any_of(scope.toasts, &Toast::fades);
}

}  // namespace attnscope
