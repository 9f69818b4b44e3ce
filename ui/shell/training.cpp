#include "shell/training.h"

namespace attnscope {

bool can_train(const Scope& scope) {
  if (scope.run.run == 0) return false;
  const Activity activity = scope.status.activity;
  return activity == Activity::idle || activity == Activity::paused || activity == Activity::finished;
}

std::string config_complaint(const Config& config) {
  try {
    check(config);
    return {};
  } catch (const ConfigError& error) {
    return error.what();
  }
}

bool can_reset(const Scope& scope) {
  return scope.status.activity != Activity::preparing && config_complaint(scope.edited).empty();
}

void play_or_pause(Scope& scope) {
  if (scope.status.activity == Activity::training) {
    scope.commands.push_back(Pause{});
  } else if (can_train(scope)) {
    scope.commands.push_back(Train{});
  }
}

void step_once(Scope& scope) {
  if (can_train(scope)) scope.commands.push_back(Step{});
}

void reset(Scope& scope) {
  if (can_reset(scope)) scope.commands.push_back(Reset{scope.edited});
}

void adjust(Scope& scope) {
  const std::string complaint = config_complaint(scope.edited);
  if (!complaint.empty()) return;
  scope.run.config = with_live_fields(scope.run.config, scope.edited);
  // A slider being dragged says many things; the last one counts.
  std::erase_if(scope.commands, [](const Command& command) { return std::holds_alternative<Adjust>(command); });
  scope.commands.push_back(Adjust{scope.run.config});
}

void drop_path(Scope& scope, const std::string& path, bool is_folder) {
  if (is_folder) {
    scope.commands.push_back(OpenRun{path});
  } else {
    scope.dropped_file = path;
  }
}

}  // namespace attnscope
