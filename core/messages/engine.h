// The interface between the session and its backend, called only by the worker thread. The real one (torch_engine.h)
// holds corpus, tokenizer, model and trainer; tests use a slow fake.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/callbacks.h"
#include "messages/history.h"
#include "messages/messages.h"
#include "messages/snapshot.h"

namespace attnscope {

using SnapshotCallback = std::function<void(std::shared_ptr<const Snapshot>)>;

class Engine {
 public:
  virtual ~Engine() = default;

  // Returns another engine, without a run yet, for a run compared with this one's. Data loaded by this engine is
  // shared, and the run numbers of both are distinct (RunOpened::run).
  virtual std::unique_ptr<Engine> for_comparison() const = 0;

  // Opens a saved run without its training corpus, which may take seconds to load. On any exception the present run is
  // unchanged; likewise for the next two functions.
  virtual RunOpened open_model(const std::string& path) = 0;
  // Opens a saved run with its corpus and saves it there from now on; no other process may hold it.
  virtual RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) = 0;
  // Builds a new run from its configuration.
  virtual RunOpened reset(const Config& config, const ProgressCallback& progress) = 0;

  // Right after open_model: uses the weights saved at this step, or best_weights, instead of the newest, and drops what
  // belongs to later steps from `opened`. The folder is not changed. Throws RunError if there are none.
  virtual void use_step(RunOpened& opened, std::int64_t step) = 0;
  // The step with the lowest validation loss, if its weights were kept.
  virtual std::optional<std::int64_t> best_step() const = 0;

  // Loads the corpus of the opened model, which training, studies and the check for unseen words need. `progress` may
  // run probes, and throw to cancel loading.
  virtual CorpusRead read_corpus(const ProgressCallback& progress) = 0;
  // Both in one: opens a saved run with its corpus, for inspection.
  RunOpened open_run(const std::string& path, const ProgressCallback& progress);

  // Gives the run a folder, into which the two functions below save it.
  virtual void save_run(const std::string& path) = 0;
  // Called after a step: saves the run if a checkpoint is due, or appends to its metrics. Returns false if nothing was
  // due. A run without a folder gets one if this engine autosaves. On an exception the folder's contents are unchanged,
  // and training can continue.
  virtual bool checkpoint_if_due() = 0;
  // Saves the run now. Does nothing for a run that has no folder and gets none.
  virtual void checkpoint() = 0;
  // Saves the present run and returns the command that reopens it in its present state; none if nothing can.
  virtual std::optional<OpenRun> keep() = 0;
  // Takes the news about the run's folder since the last call, one sentence; empty: nothing happened.
  virtual std::string take_notice() { return {}; }
  // The run's last saved state; none: it is not saved anywhere.
  virtual std::optional<Autosave> last_saved() const = 0;
  // Autosaves of processes that have ended, newest first.
  virtual std::vector<Autosave> autosaves() = 0;
  virtual void adjust(const Config& config) = 0;  // live fields only

  virtual Status status() const = 0;  // step and device; the activity is set by the session
  virtual std::int64_t steps_wanted() const = 0;
  // Returns true if training has ended before the configured steps, by agreement of all ranks that train the run
  // (training/distributed/ranks.h).
  virtual bool has_ended() const { return false; }
  // Returns true for a training of another program, whose steps are all in Status::recorded_weights.
  virtual bool is_foreign_training() const { return false; }
  virtual std::int64_t history_interval() const = 0;  // training.history_interval

  // The present run's history, saved and opened with it. A reset removes all frames but keeps the sentences.
  virtual History& history() = 0;

  // Records the present weights, so that this step can be inspected later: Probe::step, StartStudy::step.
  virtual void record_weights() = 0;

  // One optimizer step, with a validation if one is due. Calls `yield` between its phases (batch, forward, backward,
  // optimizer, each validation batch), so that a keystroke need not wait for the whole step.
  virtual MetricPoint train_step(const YieldCallback& yield) = 0;

  // Runs a forward pass on `text` with the present weights, or those of Probe::step, without dropout. Publishes early
  // results (tokens and encoder), then the whole. `yield` is called at every decoded token and may train: the forward
  // pass continues with the weights it started with.
  virtual void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) = 0;

  // Uses the weights of this moment, or of StartStudy::step, whatever is trained meanwhile. `progress` is called often,
  // and may probe, train, save, and throw to cancel the study; it must not replace the run.
  virtual StudyResult study(const StartStudy& asked, const FractionCallback& progress) = 0;
};

// Returns true if the pinned sentences are recorded at the present step.
bool recording_due(Engine& engine);

// Records every pinned sentence that has no frame of the present step; of a training of another program also the later
// ones of its recorded steps than the sentence's last frame. Adds each frame to the history and passes it to
// `recorded`. The cost is the decoding of at most max_pinned sentences a step. `yield` is called at every decoded token
// and may throw to skip the rest, which the next call records; a frame is recorded completely or not at all.
void record_pinned(Engine& engine, const SnapshotCallback& recorded, const YieldCallback& yield);

}  // namespace attnscope
