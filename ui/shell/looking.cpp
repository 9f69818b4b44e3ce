#include "shell/looking.h"

#include <algorithm>
#include <utility>

#include "shell/departures.h"

namespace attnscope {

void set_sentence(Scope& scope, std::string text) {
  scope.layout.sentence = std::move(text);
  const Example* example = example_of(scope);
  scope.reference = example == nullptr ? std::string() : example->target;
  let_go_of_places(scope);
  probe_sentence(scope);
}

void remember_sentence(Scope& scope) {
  auto& recent = scope.layout.recent;
  const std::string& sentence = scope.layout.sentence;
  if (sentence.empty()) return;
  std::erase(recent, sentence);
  recent.insert(recent.begin(), sentence);
  if (recent.size() > max_recent) recent.resize(max_recent);
}

const Example* example_of(const Scope& scope) {
  const auto found = std::ranges::find(scope.run.examples, scope.layout.sentence, &Example::source);
  return found == scope.run.examples.end() ? nullptr : &*found;
}

Probe wanted_probe(const Scope& scope) {
  Probe probe;
  probe.request = scope.asked.request;
  probe.text = scope.layout.sentence;
  probe.reference = scope.reference;
  Departures departures = departures_of(scope);
  probe.changes = std::move(departures.interventions);
  probe.prefix = std::move(departures.prefix);
  probe.prefix_ids = std::move(departures.prefix_ids);
  const Workspace& workspace = *scope.layout.workspace;
  if (workspace.ask) workspace.ask(scope.views, probe);
  return probe;
}

void ask_for_look(Scope& scope) {
  if (scope.run.run != 0 && wanted_probe(scope) != scope.asked) probe_sentence(scope);
}

void probe_sentence(Scope& scope) {
  // Only the newest is answered, so an older one that has not left yet need not go at all.
  std::erase_if(scope.commands, [](const Command& command) { return std::holds_alternative<Probe>(command); });
  scope.asked = wanted_probe(scope);
  ++scope.asked.request;
  scope.commands.push_back(scope.asked);
}

}  // namespace attnscope
