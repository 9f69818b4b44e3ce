// What the session needs of the machinery behind it. Called by the worker thread alone. The real one (torch_engine.h)
// holds corpus, tokenizer, model and trainer; tests drive the session with a slow fake one.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plain/callbacks.h"
#include "plain/history.h"
#include "plain/messages.h"
#include "plain/snapshot.h"

namespace attnscope {

using SnapshotCallback = std::function<void(std::shared_ptr<const Snapshot>)>;

class Engine {
 public:
  virtual ~Engine() = default;

  // Another engine, without a run yet, for one beside this one's: what it reads that this one has read already is
  // shared, and the runs of both have numbers of their own (RunOpened::run).
  virtual std::unique_ptr<Engine> beside() const = 0;

  // A saved run, without what it was trained on, which may take seconds to read. On any exception the present run stays
  // as it was; so with the two below.
  virtual RunOpened open_model(const std::string& path) = 0;
  // A saved run, whole, and from here on it is saved there; nobody else may hold it.
  virtual RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) = 0;
  // One built anew from its configuration.
  virtual RunOpened reset(const Config& config, const ProgressCallback& progress) = 0;

  // Reads what the opened model was trained on: training, studies and the words that it has seen want it. `progress`
  // may look at sentences, and throw to leave it unread.
  virtual CorpusRead read_corpus(const ProgressCallback& progress) = 0;
  // Both in one: a saved run, whole, to be looked at.
  RunOpened open_run(const std::string& path, const ProgressCallback& progress);

  // From here on the run has a folder, into which it is saved again by the two functions below.
  virtual void save_run(const std::string& path) = 0;
  // After an update: saves the run if it is time, or adds to its curves. False if nothing was due. A run without a
  // folder gets one, if this engine keeps such runs. On an exception the folder holds what it held, and training can go
  // on.
  virtual bool checkpoint_if_due() = 0;
  // Saves what it has learned, now. Nothing to do for a run that has no folder and gets none.
  virtual void checkpoint() = 0;
  // What opens the present run again as it is now: it is saved for that. None: nothing does.
  virtual std::optional<OpenRun> keep() = 0;
  // As it is where it is saved; none: it is saved nowhere.
  virtual std::optional<Autosave> last_saved() const = 0;
  // Those kept by processes that are no more, newest first.
  virtual std::vector<Autosave> autosaves() = 0;
  virtual void adjust(const Config& config) = 0;  // live fields only

  virtual Status status() const = 0;  // step and device; the activity is the session's
  virtual std::int64_t steps_wanted() const = 0;
  // Whether training has ended before those are done: so agreed all who train the run together (ranks/ranks.h).
  virtual bool has_ended() const { return false; }
  virtual std::int64_t history_interval() const = 0;  // training.history_interval

  // The present run's: saved and opened with it. A reset empties it but for the sentences.
  virtual History& history() = 0;

  // Keeps the present weights, so that this step can be looked at again: Probe::step, StartStudy::step.
  virtual void record_weights() = 0;

  // One optimizer update, with a validation when it is due. Calls `breathe` between its phases (batch, forward,
  // backward, optimizer, each batch of a validation), so that a keystroke need not wait for the whole of it.
  virtual MetricPoint train_step(const YieldCallback& yield) = 0;

  // Looks at `text` through the present weights, or those of Probe::step, dropout off. Publishes what is there early
  // (pieces and encoder), then the whole. `breathe` is called at every decoded token, and may train: the look goes on
  // with the weights it began with.
  virtual void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) = 0;

  // Over the weights of this moment, or of StartStudy::step, whatever is trained meanwhile. `progress` is called often,
  // and may look, train, save, and throw to give the study up; it must not replace the run.
  virtual StudyResult study(const StartStudy& asked, const FractionCallback& progress) = 0;
};

// True if the present step is one of those at which the pinned sentences are looked at.
bool recording_due(Engine& engine);

// Looks at every pinned sentence that has no frame of the present step, adds the frame to the history and gives it to
// `recorded`. That costs the decoding of at most max_pinned sentences; `breathe` is called at every decoded token, and
// may throw to leave the rest. A sentence is either recorded whole or not at all.
void record_pinned(Engine& engine, const SnapshotCallback& recorded, const YieldCallback& yield);

}  // namespace attnscope
