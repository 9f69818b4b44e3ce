#include "shell/looking.h"

#include <algorithm>
#include <utility>

#include "shell/departures.h"
#include "shell/export.h"
#include "shell/training.h"
#include "workspaces/decoding/view.h"

namespace attnscope {
namespace {

// ---- what the session reported

struct Receiver {
  Scope& scope;

  void operator()(const MetricPoint& point) {
    scope.curves.append(point);
    scope.status.step = point.step;
  }

  void operator()(const Status& status) {
    if (scope.status.activity == Activity::preparing && status.activity != Activity::preparing) scope.progress.reset();
    scope.status = status;
  }

  void operator()(const Progress& progress) {
    if (progress.fraction >= 1) {
      scope.progress.reset();
    } else {
      scope.progress = progress;
    }
  }

  void operator()(const StudyProgress& progress) { receive(scope, progress); }
  void operator()(const StudyEnded& ended) { receive(scope, ended); }

  void operator()(const Message& message) { notify(scope, message.severity, message.text); }

  void operator()(RunOpened& opened) {
    scope.progress.reset();
    scope.curves = {};
    scope.history = History(std::exchange(opened.pinned, {}));  // which lets go of a frame when it is dropped
    for (const MetricPoint& point : opened.metrics) (*this)(point);
    scope.status.step = opened.step;
    scope.edited = opened.config;
    for (const std::string& warning : opened.warnings) notify(scope, Severity::warning, warning);
    const bool other_kind = scope.run.config.model.is_language_model() != opened.config.model.is_language_model();
    if (other_kind)
      scope.views.of<DecodingView>().time_step = -1;  // a prompt is passed over, a translation seen from its first step
    scope.run = std::move(opened);
    let_go_of_output(scope);
    if (const Example* example = example_of(scope)) scope.reference = example->target;
    scope.saved_to.clear();  // another run must not silently take the place of the one saved there
    scope.curves_view.axis.window.reset();
    probe_sentence(scope);
  }

  void operator()(const SentencePinned& pinned) { scope.history.pin(pinned.text); }
  void operator()(const SentenceUnpinned& unpinned) { scope.history.unpin(unpinned.text); }
  void operator()(FrameRecorded& recorded) { scope.history.add(std::move(recorded.frame)); }

  void operator()(const DirectoryListed& listing) { receive(scope.browser, listing); }
  void operator()(const FileWritten& written) { receive(scope, written); }
};

}  // namespace

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
  probe.interventions = std::move(departures.interventions);
  probe.prefix = std::move(departures.prefix);
  probe.prefix_ids = std::move(departures.prefix_ids);
  const Workspace& workspace = *scope.layout.workspace;
  if (workspace.ask) workspace.ask(scope.views, probe);
  const Snapshot* past = scope.timeline.past.snapshot.get();
  if (probe.embeddings && past) probe.embeddings->step = past->step;
  return probe;
}

void ask_for_look(Scope& scope) {
  if (has_run(scope) && wanted_probe(scope) != scope.asked) probe_sentence(scope);
}

void probe_sentence(Scope& scope) {
  // Only the newest is answered, so an older one that has not left yet need not go at all.
  std::erase_if(scope.commands, [](const Command& command) { return std::holds_alternative<Probe>(command); });
  scope.asked = wanted_probe(scope);
  ++scope.asked.request;
  scope.commands.push_back(scope.asked);
}

// ---- what the session reported

void receive(Scope& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot) {
  Receiver receiver{scope};
  for (Event& event : events) std::visit(receiver, event);

  if (!snapshot || snapshot == scope.newest.snapshot) return;
  const bool decoded = snapshot->is_whole();
  scope.newest = {std::move(snapshot), ++scope.versions};
  if (decoded) scope.complete = scope.newest;
}

}  // namespace attnscope
