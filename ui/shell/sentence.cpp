#include "shell/sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/numbers.h"
#include "base/translation.h"
#include "shell/captures.h"
#include "shell/export.h"
#include "shell/lessons/lessons.h"
#include "shell/lessons/writing.h"
#include "shell/overrides.h"
#include "shell/saved_view.h"
#include "shell/training.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/mechanisms/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

void put_first(std::vector<std::string>& recent, const std::string& text, std::size_t most) {
  const std::string first = text;  // may alias an element of the list
  std::erase(recent, first);
  recent.insert(recent.begin(), first);
  if (recent.size() > most) recent.resize(most);
}

// ---- autosaves

// Offers the autosave found at startup, once.
void offer_autosave(AppState& scope) {
  const auto newest = std::ranges::find_if(scope.autosaves, [](const Autosave& run) { return run.step > 0; });
  if (newest == scope.autosaves.end() || newest->path == scope.layout.offered_run ||
      newest->path == scope.layout.last_run || has_run(scope))
    return;
  scope.layout.offered_run = newest->path;
  Toast& toast = notify(scope, Severity::info,
                        trf("Unsaved run recovered: {}, trained to step {}.", newest->name, grouped(newest->step)));
  toast.stays = true;
  toast.offer = {trf("Continue at step {}", grouped(newest->step)),
                 tr("Opens the run as it was. You can also open it later with File, Open run."),
                 OpenRun{.path = newest->path, .go_on = true}};
}

// Offers the trained run that the present one replaced.
void offer_run_before(AppState& scope, std::int64_t steps) {
  std::erase_if(scope.toasts, [](const Toast& toast) { return toast.offer && !toast.stays; });
  if (!scope.a.run.before || steps == 0) return;
  notify(scope, Severity::info, trf("The previous run (step {}) is still available.", grouped(steps))).offer = {
      scope.a.run.folder.empty() ? tr("Undo reset") : tr("Reopen it"),
      tr("Opens the previous run again. Ctrl+Z does the same."), *scope.a.run.before};
}

void offer_way_back(AppState& scope, const Diverged& diverged) {
  std::string text = trf("{}The loss is not finite at step {}: {} became NaN or infinite first. Training is paused.",
                         diverged.side == RunSide::b ? "B: " : "", grouped(diverged.step), diverged.what);
  if (diverged.side == RunSide::b)
    text += tr(" Click Keep A to continue with A only.");
  else if (!diverged.saved)
    text += tr(" Lower the learning rate, then click Reset.");
  Toast& toast = notify(scope, Severity::error, std::move(text));
  if (!diverged.saved || diverged.side == RunSide::b) return;
  toast.offer = {trf("Back to step {} with half the learning rate", grouped(diverged.saved->step)),
                 tr("Opens the run as it was last saved; Train continues from there."),
                 OpenRun{.path = diverged.saved->path, .go_on = true, .discard_unsaved = true, .rate_factor = 0.5}};
}

// ---- events of the session

struct Receiver {
  AppState& scope;

  void operator()(const MetricPoint& point) {
    scope.a.curves.append(point);
    scope.a.status.step = point.step;
  }

  void operator()(OfRunB& event) { receive(scope, event); }
  void operator()(const ComparisonEnded& ended) { receive(scope, ended); }

  void operator()(const Status& status) {
    if (scope.a.status.activity == Activity::preparing && status.activity != Activity::preparing) {
      scope.progress.reset();
      give_up_return(scope);
      give_up_run(scope);
      give_up_view(scope);
    }
    scope.pausing = scope.pausing && status.activity == Activity::training;
    scope.a.status = status;
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

  void operator()(const Message& message) {
    scope.open_refused |= message.severity == Severity::error;
    notify(scope, message.severity, message.text);
  }

  void operator()(RunOpened& opened) {
    scope.progress.reset();
    const std::int64_t steps_before = has_run(scope) ? scope.a.status.step : 0;
    scope.a.curves = {};
    const bool capture = opened.config.model.is_capture();
    if (capture) {  // a sentence with one step has no film
      std::erase_if(opened.pinned, [](const PinnedSentence& sentence) { return sentence.frames.size() < 2; });
      scope.a.history = History::whole(std::exchange(opened.pinned, {}));
      scope.views.of<AttentionView>().interventions = {};
      scope.requests.stop_serving = scope.service.has_value();  // a server sends runs
    } else {
      scope.a.history =
          History(std::exchange(opened.pinned, {}));  // moved, so that the history frees the frames it drops
    }
    for (const MetricPoint& point : std::exchange(opened.metrics, {})) (*this)(point);
    scope.a.status.step = opened.step;
    if (!capture) scope.edited = opened.config;
    warn(opened.warnings);
    const bool other_kind = scope.a.run.config.model.is_language_model() != opened.config.model.is_language_model();
    if (other_kind)
      scope.views.of<DecodingView>().time_step = -1;  // skip the prompt; show a translation from its first step
    const std::uint64_t before = scope.a.run.run;
    scope.a.run = std::move(opened);
    let_go_of_output(scope);
    take_reference();
    scope.saved_to = scope.a.run.saved_to;  // another run must not silently overwrite the one saved there
    if (!scope.a.run.folder.empty() && !scope.a.run.autosaved) remember_run(scope, scope.a.run.folder);
    if (!scope.a.run.folder.empty() && scope.rights == Rights::owner && !scope.lessons.reader) {
      scope.layout.last_run = scope.a.run.folder;
      scope.layout.continue_last_run = scope.saved_to.empty() && scope.a.run.autosaved;
    }
    // Messages about the previous run, and about attempts that failed since.
    std::erase_if(scope.toasts, [before](const Toast& toast) {
      const bool has_been_seen = before != 0 && toast.shown_at >= 0;
      return has_been_seen && !toast.offer && (toast.stays || toast.message.severity == Severity::error);
    });
    receive_in_undo(scope, before);
    offer_run_before(scope, steps_before);
    scope.curves_view.axis.window.reset();
    settle_capture(scope);
    probe_sentence(scope);
  }

  void operator()(CorpusRead& read) {
    scope.progress.reset();
    scope.a.run.corpus_follows = false;
    scope.a.run.examples = std::move(read.examples);
    warn(read.warnings);
    take_reference();
    probe_sentence(scope);  // again, because unseen words are known now
  }

  void operator()(const SentencePinned& pinned) {
    scope.a.history.pin(pinned.text);
    if (scope.b) scope.b->history.pin(pinned.text);
  }
  void operator()(const SentenceUnpinned& unpinned) {
    scope.a.history.unpin(unpinned.text);
    if (scope.b) scope.b->history.unpin(unpinned.text);
  }
  void operator()(FrameRecorded& recorded) { scope.a.history.add(std::move(recorded.frame)); }

  void operator()(AutosaveList& kept) {
    scope.autosaves = std::move(kept.runs);
    offer_autosave(scope);
  }
  void operator()(const RunAutosaved& saved) {
    scope.requests.end = true;
    if (scope.lessons.reader) return;  // the lesson's run is not the reader's
    const bool both = scope.b && !scope.saved_to.empty();
    scope.layout.last_run = both ? scope.saved_to : saved.saved_in.empty() ? scope.a.run.folder : saved.saved_in;
    scope.layout.continue_last_run = scope.saved_to.empty() && (scope.a.run.autosaved || !saved.saved_in.empty());
  }
  void operator()(NotSaved& not_saved) {
    give_up_return(scope);
    give_up_run(scope);
    give_up_view(scope);
    scope.not_saved = std::move(not_saved);
  }

  void operator()(const Diverged& diverged) { offer_way_back(scope, diverged); }

  void operator()(const DirectoryListed& listing) { receive(scope.browser, listing); }
  void operator()(RunsListed& listed) {
    scope.open_refused = true;  // no run is being opened
    remember_run(scope, listed.folder);
    take_runs(scope.views.of<MechanismsView>().runs, std::move(listed));
    scope.layout.workspace = show_view(scope.views, "runs");
  }
  void operator()(const FileWritten& written) { receive(scope, written); }
  void operator()(const FileRead& read) {
    is_experiment(read)      ? receive_experiment(scope, read)
    : is_lesson(scope, read) ? receive_lesson(scope, read)
                             : receive(scope, read);
  }

  void warn(const std::vector<std::string>& warnings) {
    for (const std::string& warning : warnings) notify(scope, Severity::warning, warning);
  }
  // Sets the reference if the sentence is one of the corpus's examples.
  void take_reference() {
    if (const Example* example = example_of(scope)) scope.reference = example->target;
  }
};

}  // namespace

void remember_run(AppState& scope, const std::string& folder) {
  put_first(scope.layout.recent_runs, folder, max_recent_runs);
}

void set_sentence(AppState& scope, std::string text) {
  scope.layout.sentence = std::move(text);
  scope.layout.sentence_edited = true;
  const Example* example = example_of(scope);
  scope.reference = example == nullptr ? std::string() : example->target;
  let_go_of_places(scope);
  probe_sentence(scope);
}

void remember_sentence(AppState& scope) {
  if (!scope.layout.sentence.empty()) put_first(scope.layout.recent, scope.layout.sentence, max_recent);
}

const Example* example_of(const AppState& scope) {
  const auto found = std::ranges::find(scope.a.run.examples, scope.layout.sentence, &Example::source);
  return found == scope.a.run.examples.end() ? nullptr : &*found;
}

Probe wanted_probe(const AppState& scope) {
  Probe probe;
  probe.request = scope.asked.request;
  probe.text = scope.layout.sentence;
  probe.reference = scope.reference;
  Overrides overrides = overrides_of(scope);
  probe.interventions = std::move(overrides.interventions);
  probe.prefix = std::move(overrides.prefix);
  probe.prefix_ids = std::move(overrides.prefix_ids);
  const Workspace& workspace = *scope.layout.workspace;
  if (workspace.ask) workspace.ask(scope.views, probe);
  probe.step = inspected_step(scope);
  const Snapshot* past = scope.a.past.snapshot.get();
  if (probe.embeddings && past) probe.embeddings->step = past->step;
  return probe;
}

void ask_for_inspection(AppState& scope) {
  if (has_run(scope) && wanted_probe(scope) != scope.asked) probe_sentence(scope);
}

void probe_sentence(AppState& scope) {
  // Only the newest Probe is answered, so older ones that are still queued are dropped.
  std::erase_if(scope.commands, [](const Command& command) { return std::holds_alternative<Probe>(command); });
  scope.asked = wanted_probe(scope);
  ++scope.asked.request;
  scope.commands.push_back(scope.asked);
}

// ---- events of the session

void receive(AppState& scope, std::vector<Event> events, std::shared_ptr<const Snapshot> snapshot,
             std::shared_ptr<const Snapshot> of_b) {
  Receiver receiver{scope};
  for (Event& event : events) std::visit(receiver, event);
  receive_b(scope, std::move(of_b));
  receive(scope.a, std::move(snapshot), scope.versions);
}

}  // namespace attnscope
