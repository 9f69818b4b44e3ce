#include "shell/scope.h"

#include <algorithm>
#include <utility>

namespace attnscope {
namespace {

constexpr std::size_t most_toasts = 50;

// Of the corpus, for the present sentence; null when it is none of its examples.
const Example* example_of(const Scope& scope) {
  const auto found = std::ranges::find(scope.run.examples, scope.layout.sentence, &Example::source);
  return found == scope.run.examples.end() ? nullptr : &*found;
}

// What was chosen among the pieces of another output.
void let_go_of_output(DecodingView& view) {
  view.prefix.clear();
  view.prefix_ids.clear();
  view.hypothesis.clear();
}

struct Receiver {
  Scope& scope;

  void operator()(const MetricPoint& point) {
    append(scope.curves, point);
    scope.status.step = point.step;
    scope.loss_step = point.step;
    scope.loss = point.loss;
    scope.tokens_per_second = point.tokens_per_second;
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

  void operator()(const Message& message) { notify(scope, message.severity, message.text); }

  void operator()(RunOpened& opened) {
    scope.progress.reset();
    scope.curves = {};
    scope.history = History(std::exchange(opened.pinned, {}));  // which lets go of a frame when it is dropped
    scope.loss_step = -1;
    for (const MetricPoint& point : opened.history) (*this)(point);
    scope.status.step = opened.step;
    scope.edited = opened.config;
    for (const std::string& warning : opened.warnings) notify(scope, Severity::warning, warning);
    const bool other_kind = scope.run.config.model.is_language_model() != opened.config.model.is_language_model();
    if (other_kind) scope.decoding.step = -1;  // a prompt is passed over, a translation seen from its first step
    scope.run = std::move(opened);
    let_go_of_output(scope.decoding);
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

void receive(Scope& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot) {
  Receiver receiver{scope};
  for (Event& event : events) std::visit(receiver, event);

  if (!snapshot || snapshot == scope.newest.snapshot) return;
  const bool decoded = snapshot->is_whole();
  scope.newest = {std::move(snapshot), ++scope.versions};
  if (decoded) scope.complete = scope.newest;
}

ShownMaps shown_maps(const Scope& scope) {
  const Shown& past = scope.timeline.past;
  if (past.snapshot) return {past, past};
  return {scope.newest, scope.complete};
}

void notify(Scope& scope, Severity severity, std::string text) {
  const auto same = [&](const Toast& toast) {
    return toast.message.severity == severity && toast.message.text == text;
  };
  // Said again: once on the screen is enough, but from now on.
  std::erase_if(scope.toasts, same);
  scope.toasts.push_back({{severity, std::move(text)}});
  if (scope.toasts.size() > most_toasts) scope.toasts.erase(scope.toasts.begin());
}

void set_sentence(Scope& scope, std::string text) {
  scope.layout.sentence = std::move(text);
  const Example* example = example_of(scope);
  scope.reference = example == nullptr ? std::string() : example->target;
  scope.attention.changes.forced.clear();
  scope.attention.changes.replaced.clear();
  scope.attention.inside.painted.reset();
  let_go_of_output(scope.decoding);
  probe_sentence(scope);
}

Probe wanted_probe(const Scope& scope) {
  Probe probe;
  probe.request = scope.asked.request;
  probe.text = scope.layout.sentence;
  probe.reference = scope.reference;
  probe.changes = scope.attention.changes;
  probe.prefix = scope.decoding.prefix;
  probe.prefix_ids = scope.decoding.prefix_ids;
  probe.options = scope.decoding.options;
  const bool attention = scope.layout.workspace == Workspace::attention;
  probe.decoding = scope.layout.workspace == Workspace::decoding;
  if (probe.decoding) probe.hypothesis = scope.decoding.hypothesis;
  if (attention && scope.attention.level == AttentionLevel::inside) probe.inside = scope.attention.place();
  probe.flow = attention && scope.attention.level == AttentionLevel::sublayers;
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

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t") == std::string::npos;
}

void remember_sentence(Scope& scope) {
  auto& history = scope.layout.history;
  const std::string& sentence = scope.layout.sentence;
  if (sentence.empty()) return;
  std::erase(history, sentence);
  history.insert(history.begin(), sentence);
  if (history.size() > max_history) history.resize(max_history);
}

void drop_path(Scope& scope, const std::string& path, bool is_folder) {
  if (is_folder) {
    scope.commands.push_back(OpenRun{path});
  } else {
    scope.dropped_file = path;
  }
}

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

bool animating(const Scope& scope) {
  const bool playing = scope.decoding.playing && scope.layout.workspace == Workspace::decoding;
  const bool fading = std::any_of(scope.toasts.begin(), scope.toasts.end(),
                                  [](const Toast& toast) { return toast.message.severity != Severity::error; });
  const bool measuring = scope.layout.workspace == Workspace::attention && working(scope.attention);
  const bool exporting = scope.exports.picture || scope.exports.film;
  return playing || fading || measuring || exporting || scope.timeline.playing;
}

}  // namespace attnscope
