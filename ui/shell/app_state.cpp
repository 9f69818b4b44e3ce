#include "shell/app_state.h"

#include <algorithm>
#include <utility>

namespace attnscope {
namespace {

constexpr std::size_t most_toasts = 50;

// For a recorded frame, prefers the forward pass through its step's weights once it is available.
ShownMaps maps_of(const Shown& past, const Shown& inspection, const Shown& newest, const Shown& complete) {
  if (!past.snapshot) return {newest, complete};
  const bool of_past = inspection.snapshot && inspection.snapshot->run == past.snapshot->run &&
                       inspection.snapshot->step == past.snapshot->step &&
                       inspection.snapshot->source_text == past.snapshot->source_text;
  return of_past ? ShownMaps{inspection, inspection} : ShownMaps{past, past};
}

}  // namespace

ShownMaps shown_maps(const AppState& scope) {
  return shown_maps(scope, shows_other(scope) ? RunSide::b : RunSide::a);
}

ShownMaps shown_maps(const AppState& scope, RunSide side) {
  if (side == RunSide::b && scope.other) {
    const OtherRun& other = *scope.other;
    return maps_of(other.past, other.inspection, other.newest, other.complete);
  }
  return maps_of(scope.timeline.past, scope.timeline.inspection, scope.newest, scope.complete);
}

bool shows_other(const AppState& scope) {
  return scope.other && scope.comparing.side == RunSide::b;
}

const RunOpened& shown_run(const AppState& scope) {
  return shows_other(scope) ? scope.other->run : scope.run;
}

const Curves& shown_curves(const AppState& scope) {
  return shows_other(scope) ? scope.other->curves : scope.curves;
}

std::optional<std::int64_t> inspected_step(const AppState& scope) {
  const Snapshot* past = scope.timeline.past.snapshot.get();
  if (!past || !std::ranges::binary_search(scope.status.recorded_weights, past->step)) return std::nullopt;
  return past->step;
}

bool may_control(const AppState& scope) {
  return scope.rights != Rights::watch;
}

bool may_replace(const AppState& scope) {
  return scope.rights == Rights::owner;
}

bool has_run(const AppState& scope) {
  return scope.run.run != 0;
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
  return busy || exporting || scope.timeline.playing || std::ranges::any_of(scope.toasts, &Toast::fades);
}

}  // namespace attnscope
