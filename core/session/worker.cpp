#include "session/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <ranges>
#include <utility>

#include "common/mark.h"
#include "config/comparison.h"
#include "files/captures/capture_engine.h"
#include "files/storage/comparison_folder.h"
#include "files/storage/run_folder.h"
#include "files/storage/run_list.h"
#include "session/directory.h"
#include "session/file_writing.h"
#include "session/lockstep.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;

// While training, a sentence is reevaluated at most this often …
constexpr auto inspection_interval = 100ms;
// … and only after this multiple of the last evaluation's time: forward passes take less than a fifth of the worker's
// time.
constexpr int inspection_rest = 4;
// Viewers wait longer, separately and together. A question waits for this multiple of the last forward pass's time,
// within a limit; repeated answers are so rare that training gets 49/50 of the time.
constexpr int viewer_question_rest = 4;
constexpr int viewer_inspection_rest = 49;
// A study that gives way is followed, slice by slice, by this multiple of training: it takes a twentieth of the time.
constexpr int giving_way_rest = 19;
// Numbers of captures, apart from those that the engine gives to runs.
constexpr std::uint64_t first_capture = std::uint64_t{1} << 32;
// A long decoding lets training take a step whenever it has blocked training for this long.
constexpr auto longest_pause_of_training = 250ms;

template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

// The message of the exception being handled.
std::string reason() {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

// Runs `work` when the scope exits, also by exception.
template <typename Work>
struct ScopeExit {
  Work work;
  ~ScopeExit() { work(); }
};

}  // namespace

Session::Worker::Worker(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake)
    : make_engine_(std::move(make_engine)), wake_(std::move(wake)) {}

Session::Worker::Worker(std::vector<HeldEngine> runs, std::function<void()> wake)
    : wake_(std::move(wake)), held_(std::move(runs)) {}

void Session::Worker::run(std::stop_token stop) {
  stop_ = std::move(stop);
  if (make_engine_) {
    make_engine();
  } else {
    take_over(std::move(held_));
  }
  while (!stop_.stop_requested()) {
    try {
      turn();
    } catch (const Cancelled&) {  // a yield that ended a step because the session stops
    } catch (...) {
      if (activity_ == Activity::training) activity_ = Activity::paused;
      say(Severity::error, fmt::format(mark("Internal error: {}. Training is paused, and the run is still in memory: "
                                            "save it before you continue"),
                                       reason()));
      wake_window();
    }
  }
  save_what_is_left();
  runs_ = {};
  models_.reset();
}

// Executes commands that arrived just before the end: file writes, and saving the run unless it was to be replaced
// first. Also saves a run with a folder if it has changed since its last save.
void Session::Worker::save_what_is_left() {
  receive(orders.take());
  while (!waiting_.empty()) {
    Command command = waiting_.take_next();
    if (replacement_abandoned_ || replaces_a_run(command)) break;
    if (is_one_of<Adjust, SaveRun>(command)) carry_out(std::move(command));
  }
  if (!run_open_ || kept_) return;
  for (Engine* engine : engines()) attempt(mark("save the run"), [&] { engine->checkpoint(); });
}

void Session::Worker::make_engine() {
  try {
    a().engine = models_ = make_engine_();
  } catch (...) {
    engine_error_ = fmt::format("The engine could not be started: {}", reason());
    say(Severity::error, engine_error_);
  }
}

void Session::Worker::take_over(std::vector<HeldEngine> runs) {
  run_open_ = true;
  for (const HeldEngine& run : runs) run.engine->adjust(run.opened.config);  // also sets per-thread options
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunSide side = both_sides.at(i);
    runs_[side] = {.engine = std::move(runs[i].engine), .config = runs[i].opened.config};
    send(event_of(side, std::move(runs[i].opened)));
  }
  models_ = a().engine;
}

void Session::Worker::turn() {
  if (nothing_to_do()) {
    report_status();
    wake_window();
    receive(orders.wait());
  } else {
    receive(orders.take());
  }
  serve_probes();
  if (stop_.stop_requested()) return;
  if (!waiting_.empty()) {
    carry_out_next();
  } else if (corpus_wanted()) {
    read_corpus();
  } else if (study_asked_ && run_open_) {
    study();
  } else if (activity_ == Activity::training) {
    update();
    inspect_again_if_due();
  } else {
    inspect_again_if_due();
  }
  report_status();
  wake_window();
}

bool Session::Worker::nothing_to_do() const {
  const auto inspection_due = [this](const Viewer& viewer) {
    return (viewer.waits() && run_open_) || viewer.is_outdated();
  };
  return waiting_.empty() && !corpus_wanted() && !(study_asked_ && run_open_) && activity_ != Activity::training &&
         !inspection_due(viewers_.window) && !viewers_.any(inspection_due);
}

// ---- incoming commands

void Session::Worker::receive(std::vector<Order> arrived) {
  for (Order& order : arrived) std::visit([this](auto& told) { receive(std::move(told)); }, order);
}

void Session::Worker::receive(ViewerQuestion question) {
  viewers_.ask(std::move(question));
}

void Session::Worker::receive(Command command) {
  const Overloaded take = {
      [this](Pause&) { pause(); },
      [this](Cancel&) { cancel(); },
      [this](Probe& probe) { viewers_.window.asked = std::move(probe); },
      [this](StartStudy& asked) { ask_for_study(std::move(asked)); },
      [this](CancelStudy&) { ask_for_study(std::nullopt); },
      [this](ListDirectory& list) { send(list_directory(list.path)); },
      [this](ListAutosaves&) { list_autosaves(); },
      [this](KeepRun& wanted) { keep_run(wanted); },  // also inside a step: the weights do not change until its end
      [this](WriteFile& file) { send(write_wanted(file)); },
      [this](ReadFile& file) { send(read_wanted(file)); },
      [this](auto& in_order) { waiting_.add(std::move(in_order)); },
  };
  std::visit(take, command);
}

// Cancels training requested earlier; a running step is finished.
void Session::Worker::pause() {
  waiting_.drop_training();
  if (activity_ == Activity::training) activity_ = Activity::paused;
}

void Session::Worker::cancel() {
  works_.cancel(Work::inspection);
  const bool dropped = waiting_.drop_replacements();
  if (works_.is_running(Work::preparation)) {
    works_.cancel(Work::preparation);
  } else if (works_.is_running(Work::reading_corpus)) {
    corpus_ = CorpusState::put_off;
    pause();
    ask_for_study(std::nullopt);
    say(Severity::info, mark("Cancelled. The corpus will be read when it is needed"));
  } else if (dropped) {
    say(Severity::info, mark("Cancelled. The current run was not changed"));
  }
}

void Session::Worker::ask_for_study(std::optional<StartStudy> asked) {
  if (study_asked_) send(StudyEnded{study_asked_->study, nullptr});
  study_asked_ = std::move(asked);
  works_.cancel(Work::study);
}

// ---- commands executed between two steps

void Session::Worker::carry_out_next() {
  carry_out(waiting_.take_next());
}

void Session::Worker::carry_out(Command command) {
  if (!a().engine) {
    if (!is_one_of<Adjust>(command)) say(Severity::error, engine_error_);
    return;
  }
  kept_ = false;
  std::visit(
      Overloaded{
          [this](const Train&) { train(); }, [this](const Step&) { single_step(); },
          [this](const Adjust& adjusted) { adjust(adjusted.config); },
          [this](const SaveRun& save_run) { save(save_run.path); }, [this](const Pin& pinned) { pin(pinned.text); },
          [this](const Unpin& unpinned) { unpin(unpinned.text); }, [this](const Reset& wanted) { reset_all(wanted); },
          [this](const OpenRun& wanted) { open_comparison(wanted); }, [this](const GoToBest&) { go_to_best(); },
          [this](const Compare& wanted) { compare(wanted); },
          [this](const EndComparison& wanted) { end_comparison(wanted); },
          [](const auto&) {},  // took effect on arrival
      },
      command);
}

std::vector<Engine*> Session::Worker::engines() const {
  std::vector<Engine*> all;
  for (const Run& run : runs_.values)
    if (run.engine) all.push_back(run.engine.get());
  return all;
}

RunSide Session::Worker::side_of(const Engine& engine) const {
  return &engine == runs_[RunSide::b].engine.get() ? RunSide::b : RunSide::a;
}

bool Session::Worker::run_is_there() {
  if (!run_open_) say(Severity::warning, mark("There is no run yet. Open one, or create one with Reset"));
  return run_open_;
}

void Session::Worker::train() {
  if (run_is_there()) activity_ = Activity::training;
}

void Session::Worker::single_step() {
  if (!run_is_there()) return;
  if (corpus_ != CorpusState::read) read_corpus();
  activity_ = Activity::training;
  report_status();
  wake_window();
  update();
  if (activity_ == Activity::training) activity_ = Activity::paused;
}

void Session::Worker::adjust(const Config& config) {
  if (!run_open_) return;  // the opened run has its own configuration
  attempt(mark("change the configuration"), [&] {
    a().engine->adjust(config);
    const Config before = std::exchange(a().config, with_live_fields(a().config, config));
    if (!compares()) return;
    b().config = moved_along(b().config, before, a().config);
    b().engine->adjust(b().config);
  });
}

void Session::Worker::save(const std::string& path) {
  if (!run_is_there()) return;
  const char* task = compares() ? mark("save the comparison") : mark("save the run");
  if (attempt(task, [&] { save_all(path); })) say(Severity::info, fmt::format("Saved to {}", path));
}

// The file that joins the two runs is written last: without it each is an ordinary run.
void Session::Worker::save_all(const std::string& path) {
  if (!compares()) return a().engine->save_run(path);
  const ComparisonFolder folder{path};
  check_free_for_comparison(folder.path);
  a().engine->save_run(folder.a().string());
  b().engine->save_run(folder.b().string());
  save_comparison(folder);
}

void Session::Worker::pin(const std::string& text) {
  if (!run_is_there() || a().engine->history().find(text)) return;
  if (!a().engine->history().pin(text)) {
    say(Severity::warning,
        fmt::format(mark("{} sentences are pinned, which is the maximum: unpin one first"), max_pinned));
    return;
  }
  if (compares()) b().engine->history().pin(text);
  send(SentencePinned{text});
  recording_failed_ = false;
  record();
}

void Session::Worker::unpin(const std::string& text) {
  if (!run_is_there() || !a().engine->history().unpin(text)) return;
  if (compares()) b().engine->history().unpin(text);
  send(SentenceUnpinned{text});
}

void Session::Worker::slow_down(Engine& engine, RunOpened& opened, double factor) {
  if (factor == 1) return;
  TrainingConfig& training = opened.config.training;
  for (double* rate : {&training.noam_factor, &training.learning_rate, &training.min_learning_rate}) *rate *= factor;
  engine.adjust(opened.config);
}

void Session::Worker::keep_run(const KeepRun& wanted) {
  const auto checkpoint_all = [this] {
    for (Engine* engine : engines()) engine->checkpoint();
  };
  if (!keep_or_tell(wanted, checkpoint_all)) return;
  kept_ = true;
  const std::optional<Autosave> saved = run_open_ ? a().engine->last_saved() : std::nullopt;
  send(RunAutosaved{saved ? saved->path : ""});
}

void Session::Worker::go_to_best() {
  std::optional<OpenRun> reopen;
  if (!attempt(mark("save the run"), [&] { reopen = a().engine->keep(); }) || !reopen) return;
  open({.path = reopen->path, .step = best_weights});
}

void Session::Worker::list_autosaves() {
  if (models_) send(AutosaveList{models_->autosaves()});
}

bool Session::Worker::keep_or_tell(const Replacement& wanted, const std::function<void()>& keep) {
  if (!run_open_) return true;
  try {
    keep();
    return true;
  } catch (...) {
    send(NotSaved{wanted, reason()});
    return false;
  }
}

std::optional<RunOpened> Session::Worker::built(const char* task, const Build& build) {
  std::optional<RunOpened> opened;
  bool failed = false;
  try {
    const RunningWorks::Scope preparing = works_.begin(Work::preparation);
    progress_.reset();
    report_status();
    wake_window();
    failed =
        !attempt(task, [&] { opened = build([this](const Progress& progress) { yield_in_preparation(progress); }); });
  } catch (const Cancelled&) {
    replacement_abandoned_ = stop_.stop_requested();
    say(Severity::info, run_open_ ? mark("Cancelled. The current run was not changed") : mark("Cancelled"));
  }
  if (progress_ && progress_->fraction < 1) send(Progress{progress_->what, 1});
  if (failed) {  // the run to be trained does not exist, and nobody asked to train the old one
    receive(orders.take());
    if (activity_ == Activity::training)
      say(Severity::info, mark("The present run is unchanged. Its training is paused"));
    pause();
  }
  return opened;
}

bool Session::Worker::prepare(const Replacement& wanted, bool discard_unsaved, const char* task,
                              AfterPreparation afterwards, const std::shared_ptr<Engine>& engine, const Build& build) {
  std::optional<OpenRun> before;
  const auto keep = [&] {
    before = a().engine->keep();
    if (compares()) b().engine->keep();
  };
  if (!discard_unsaved && !keep_or_tell(wanted, keep)) return false;
  std::optional<RunOpened> opened = built(task, build);
  if (!opened) return false;
  a().engine = engine;
  run_open_ = true;
  corpus_ = opened->corpus_follows ? CorpusState::follows : CorpusState::read;
  opened->before = std::move(before);
  const bool train_on = afterwards == AfterPreparation::train_on && activity_ == Activity::training;
  if (!train_on) activity_ = Activity::idle;
  a().config = opened->config;
  send(*std::move(opened));
  rerun_probe();
  report_status();
  recording_failed_ = false;
  if (corpus_ == CorpusState::read) record();  // otherwise frames could not mark unseen words
  return true;
}

bool Session::Worker::reset(const Reset& wanted) {
  return prepare(wanted, wanted.discard_unsaved, mark("create the new run"), AfterPreparation::train_on, models_,
                 [&](const ProgressCallback& progress) { return models_->reset(wanted.config, progress); });
}

// An opened run is inspected; training does not start by itself.
bool Session::Worker::open(const OpenRun& wanted) {
  const bool capture = is_capture_name(wanted.path);
  const std::shared_ptr<Engine> engine =
      capture ? std::make_shared<CaptureEngine>(first_capture + captures_++) : models_;
  const bool opened = prepare(wanted, wanted.discard_unsaved, capture ? mark("open the capture") : mark("open the run"),
                              AfterPreparation::freeze, engine, [&](const ProgressCallback& progress) {
                                RunOpened run = wanted.go_on ? engine->go_on_with(wanted.path, progress)
                                                             : engine->open_model(wanted.path);
                                if (wanted.step) engine->use_step(run, *wanted.step);
                                slow_down(*engine, run, wanted.rate_factor);
                                return run;
                              });
  if (opened) drop_b();
  return opened;
}

// The model is shown first. The corpus is loaded after the first forward pass, or when it is needed.
bool Session::Worker::corpus_wanted() const {
  if (corpus_ == CorpusState::read) return false;
  const bool shown = viewers_.window.present && corpus_ == CorpusState::follows;
  return shown || study_asked_ || activity_ == Activity::training;
}

void Session::Worker::read_corpus() {
  CorpusRead read;
  corpus_ = CorpusState::follows;
  attempt(mark("read the corpus"), [&] {
    const RunningWorks::Scope reading = works_.begin(Work::reading_corpus);
    read = a().engine->read_corpus([this](const Progress& progress) { yield_in_reading(progress); });
  });
  take_in(std::move(read));
  record();
}

void Session::Worker::take_in(CorpusRead read) {
  corpus_ = CorpusState::read;
  send(std::move(read));
}

// If one run is missing, the other one can still be inspected.
void Session::Worker::open_comparison(const OpenRun& wanted) {
  if (!is_comparison(wanted.path)) {
    if (!is_run(wanted.path) && has_runs(wanted.path)) {
      attempt(mark("list the runs"), [&] { send(list_runs(wanted.path)); });
    } else {
      open(wanted);
    }
    return;
  }
  std::optional<ComparedRuns> runs;
  if (!attempt(mark("open the comparison"), [&] { runs = load_comparison({wanted.path}); })) return;
  OpenRun first = wanted;
  const bool a_is_there = is_run(runs->a), b_is_there = is_run(runs->b);
  first.path = (a_is_there || !b_is_there ? runs->a : runs->b).string();
  if (!open(first)) return;
  const ComparisonFolder folder{wanted.path};
  const bool is_saved_there = runs->a == folder.a() && runs->b == folder.b();  // and not made of runs elsewhere
  if (a_is_there && b_is_there) return compare({.with = runs->b.string()}, is_saved_there ? wanted.path : "");
  say(Severity::warning,
      fmt::format(mark("There is nothing to compare with: the run {} is missing. Only the other one was opened"),
                  (a_is_there ? runs->b : runs->a).string()));
}

// ---- a second run for comparison

// The compared fields stay different, all others are reset in both.
void Session::Worker::reset_all(const Reset& wanted) {
  const Config config_of_b = moved_along(b().config, a().config, wanted.config);
  if (!reset(wanted) || !compares()) return;
  std::optional<RunOpened> opened = built(mark("create the second run"), [&](const ProgressCallback& progress) {
    return b().engine->reset(config_of_b, progress);
  });
  if (opened) {
    begin_comparison(*std::move(opened));
  } else {
    end_comparison({});
  }
}

void Session::Worker::compare(const Compare& wanted, const std::string& saved_to) {
  if (wanted.anew && !reset({*wanted.anew})) return;
  if (!run_is_there()) return;
  std::shared_ptr<Engine> engine;
  std::optional<RunOpened> opened =
      built(mark("create the run to compare with"), [&](const ProgressCallback& progress) {
        if (corpus_ != CorpusState::read) take_in(a().engine->read_corpus(progress));  // shared by both runs
        engine = a().engine->for_comparison();
        if (const auto* path = std::get_if<std::string>(&wanted.with)) return engine->open_run(*path, progress);
        Config config = std::get<Config>(wanted.with);
        config.training.threads = a().config.training.threads;  // both use one thread pool
        config.training.device = a().config.training.device;
        return engine->reset(config, progress);
      });
  if (!opened) return;
  if (compares() && !attempt(mark("save the previous run of the comparison"), [this] { b().engine->keep(); })) return;
  b().engine = std::move(engine);
  opened->saved_to = saved_to;
  begin_comparison(*std::move(opened));
}

void Session::Worker::begin_comparison(RunOpened opened) {
  History& history = b().engine->history();
  for (const PinnedSentence& sentence : a().engine->history().sentences()) history.pin(sentence.text);
  opened.pinned = history.sentences();
  b().config = opened.config;
  b().reported.reset();
  snapshots[RunSide::b].put(nullptr);
  send(OfRunB{std::move(opened)});
  rerun_probe();
  report_status();
  recording_failed_ = false;
  record();
}

void Session::Worker::end_comparison(const EndComparison& wanted) {
  if (!compares()) return;
  Engine& closed = wanted.stays == RunSide::b ? *a().engine : *b().engine;
  if (!attempt(mark("save the run to be closed, so both stay open"), [&] { closed.keep(); })) return;
  if (wanted.stays == RunSide::b) {
    std::swap(a(), b());
    models_ = a().engine;
    snapshots[RunSide::a].put(snapshots[RunSide::b].get());
    rerun_probe();
  }
  drop_b(wanted.stays);
}

void Session::Worker::drop_b(RunSide stays) {
  if (!compares()) return;
  b() = {};
  snapshots[RunSide::b].put(nullptr);
  send(ComparisonEnded{stays});
}

// ---- training

// One step, of both runs if they are at the same step.
void Session::Worker::update() {
  const ScopeExit end_of_update{[this] { last_update_ = Clock::now(); }};
  const RunningWorks::Scope step = works_.begin(Work::step);
  for (Engine* engine : next_in_lockstep(engines())) {
    if (!update(*engine)) return;
  }
  stop_at_last_step();
}

// Returns false if training has stopped because of it.
bool Session::Worker::update(Engine& engine) {
  bool learned = false;
  const bool trained = attempt(mark("train"), [&] {
    try {
      send(event_of(side_of(engine), engine.train_step([this] { yield(); })));
      learned = true;
      // The result of a recorded step does not change while the model trains on.
      viewers_.each([](Viewer& viewer) {
        if (viewer.present && !viewer.present->step) viewer.outdated = true;
      });
      kept_ = false;
      if (recording_due(engine)) record(engine);
      checkpoint_if_due(engine);
    } catch (const NotFinite& what) {
      send(Diverged{engine.status().step + 1, what.what(), engine.last_saved(), side_of(engine)});
    }
  });
  if (!trained || !learned) activity_ = Activity::paused;
  return trained && learned;
}

// A full disk does not stop training: it continues in memory, and the checkpoint is retried later.
void Session::Worker::checkpoint_if_due(Engine& engine) {
  try {
    if (engine.checkpoint_if_due()) checkpoint_failed_ = false;
    if (std::string notice = engine.take_notice(); !notice.empty()) say(Severity::warning, std::move(notice));
  } catch (...) {
    const std::string why = reason();
    if (std::exchange(checkpoint_failed_, true)) return;
    say(Severity::error,
        fmt::format(mark("The run could not be saved at step {}. Training continues, and saving will be retried: {}"),
                    engine.status().step, why));
  }
}

// Called between two tokens of a decoding.
void Session::Worker::train_meanwhile() {
  if (activity_ != Activity::training || !works_.may_begin(Work::step) || corpus_ != CorpusState::read) return;
  if (Clock::now() - last_update_ >= longest_pause_of_training) update();
}

// Pressing Train afterwards continues: training ends only on reaching the last step, not beyond it.
void Session::Worker::stop_at_last_step() {
  for (Engine* engine : engines()) {
    if (!engine->has_ended()) continue;
    activity_ = Activity::finished;
    if (const std::optional<std::int64_t> best = engine->best_step())
      say(Severity::info, fmt::format(mark("Training ended early: the validation loss is lowest at step {}"), *best));
  }
  const std::int64_t step = next_in_lockstep(engines()).front()->status().step;
  if (step != a().engine->steps_wanted()) return;
  activity_ = Activity::finished;
  say(Severity::info,
      fmt::format(mark("All {} steps of this run are done. Press Train to continue beyond them"), step));
}

// Records the pinned sentences at the present step. It is not paced like other forward passes: its cost is bounded by
// training.history_interval and max_pinned, and skipping would make frames uneven. Typing is answered at every decoded
// token.
void Session::Worker::record() {
  for (Engine* engine : engines()) record(*engine);
}

void Session::Worker::record(Engine& engine) {
  const RunningWorks::Scope recording = works_.begin(Work::recording);
  if (recording_failed_) return;  // retrying at every interval would only repeat the error
  const auto recorded = [&](Frame frame) { send(event_of(side_of(engine), FrameRecorded{std::move(frame)})); };
  try {
    recording_failed_ = !attempt(mark("record the pinned sentences"),
                                 [&] { record_pinned(engine, recorded, [this] { yield_in_recording(); }); });
  } catch (const Cancelled&) {  // because of a stop, which ends the turn, or of a run that replaces this one
  }
}

// ---- yielding

void Session::Worker::yield() {
  receive(orders.take());
  serve_probes();
  if (stop_.stop_requested()) throw Cancelled();
  wake_window();
}

void Session::Worker::yield_in_recording() {
  yield();
  if (waiting_.replace_a_run()) throw Cancelled();
}

void Session::Worker::yield_in_preparation(const Progress& progress) {
  progress_ = progress;
  send(progress);
  wake_window();
  receive(orders.take());
  if (!works_.is_cancelled(Work::preparation)) serve_probes();
  if (works_.is_cancelled(Work::preparation) || stop_.stop_requested()) throw Cancelled();
  wake_window();
}

// Loading is canceled by the user, by a run that replaces this one, and by the end of the session.
void Session::Worker::yield_in_reading(const Progress& progress) {
  send(progress);
  yield();
  if (corpus_ != CorpusState::put_off && !waiting_.replace_a_run()) return;
  send(Progress{progress.what, 1});
  throw Cancelled();
}

void Session::Worker::serve_probes() {
  Viewer& window = viewers_.window;
  while (run_open_ && window.waits() && works_.may_begin(Work::inspection) && !stop_.stop_requested()) {
    const Probe probe = *std::exchange(window.asked, std::nullopt);
    inspect(window, probe, Publish::early_and_whole);
  }
  serve_viewer();
}

// Serves one viewer whose question has waited: however many viewers there are, they alternate with training.
void Session::Worker::serve_viewer() {
  if (!works_.may_begin(Work::inspection)) return;
  viewers_.remove_gone();
  const auto rest =
      std::min<Clock::duration>(longest_pause_of_training, viewer_question_rest * viewers_.viewer_pace.took);
  if (!run_open_ || stop_.stop_requested() || !viewers_may_inspect(rest)) return;
  Viewer* const next = viewers_.next(std::mem_fn(&Viewer::waits));
  if (next == nullptr) return;
  const Probe probe = *std::exchange(next->asked, std::nullopt);
  inspect(*next, probe, Publish::early_and_whole);
}

// ---- studies

void Session::Worker::study() {
  const StartStudy asked = *std::exchange(study_asked_, std::nullopt);
  const RunningWorks::Scope studying = works_.begin(Work::study);
  slice_began_ = Clock::now();
  StudyEnded ended{asked.study, nullptr};
  Engine& engine = asked.side == RunSide::b && compares() ? *b().engine : *a().engine;
  try {
    attempt(mark("finish the analysis"), [&] {
      ended.result = std::make_shared<const StudyResult>(engine.study(asked, [&](double fraction) {
        if (asked.gives_way) train_between_slices(asked.study, fraction);
        yield_in_study(asked.study, fraction);
        slice_began_ = Clock::now();
      }));
    });
  } catch (const Cancelled&) {  // canceled, or the run or the session ends
  }
  send(std::move(ended));
}

void Session::Worker::give_way_in_study() const {
  if (stop_.stop_requested() || works_.is_cancelled(Work::study) || waiting_.replace_a_run()) throw Cancelled();
}

// Commands and questions are answered between the steps, as during a study.
void Session::Worker::train_between_slices(std::uint64_t study, double fraction) {
  const Clock::time_point until = Clock::now() + giving_way_rest * (Clock::now() - slice_began_);
  while (activity_ == Activity::training && corpus_ == CorpusState::read && Clock::now() < until) {
    update();
    yield_in_study(study, fraction);
  }
}

// Everything done between steps is also done during a study; only another run ends it.
void Session::Worker::yield_in_study(std::uint64_t study, double fraction) {
  if (Clock::now() - last_fraction_ >= inspection_interval) {
    last_fraction_ = Clock::now();
    send(StudyProgress{study, fraction});
  }
  receive(orders.take());
  serve_probes();
  give_way_in_study();
  while (!waiting_.empty()) {
    carry_out_next();
    give_way_in_study();  // another run may have been requested meanwhile
  }
  train_meanwhile();
  inspect_again_if_due();
  report_status();
  wake_window();
}

// ---- forward passes

void Session::Worker::inspect(Viewer& viewer, const Probe& probe, Publish publish) {
  viewer.present = probe;
  viewer.outdated = false;
  viewer.failed = false;
  const RunningWorks::Scope inspecting = works_.begin(Work::inspection);
  // Inside a step there is time for the sentence, but not for all its decodings: they follow.
  Probe asked = probe;
  if (!works_.may_begin(Work::step) && probe.decoding) {
    asked.decoding = false;
    viewer.outdated = true;
  }
  const Clock::time_point begin = Clock::now();
  const auto through = [&](Engine& engine) {
    const RunSide side = side_of(engine);
    const auto put = [&](std::shared_ptr<const Snapshot> seen) {
      if (viewer.id) return answers.push({*viewer.id, std::move(seen), side});
      snapshots[side].put(std::move(seen));
    };
    const auto tell = [&](Message why) {
      news_ = true;
      if (viewer.id) return answers.push({*viewer.id, std::move(why), side});
      send(std::move(why));
    };
    return attempt(
        mark("run the model on the sentence"), [&] { inspect_with(engine, viewer, asked, publish, put); }, tell);
  };
  InspectionPace& pace = viewers_.pace_of(viewer);
  try {
    for (Engine* engine : engines())
      if (!through(*engine)) viewer.failed = true;
  } catch (const Cancelled&) {
    if (!viewer.id) return;
  }
  pace.last_end = Clock::now();
  pace.took = pace.last_end - begin;
}

void Session::Worker::inspect_with(Engine& engine, Viewer& viewer, const Probe& probe, Publish publish,
                                   const SnapshotSink& put) {
  // A newer sentence cancels this forward pass, but only after it has shown something: otherwise fast typing would show
  // nothing.
  bool shown = publish == Publish::whole;
  std::shared_ptr<const Snapshot> newest;
  const auto put_newest = [&] {
    put(newest);
    news_ = true;
    wake_window();
  };
  const SnapshotCallback take_snapshot = [&](std::shared_ptr<const Snapshot> taken) {
    newest = std::move(taken);
    if (publish == Publish::whole) return;
    put_newest();
    shown = true;
  };
  const Clock::time_point begin = Clock::now();
  const YieldCallback yield = [&] {
    receive(orders.take());
    wake_window();
    if (stop_.stop_requested() || works_.is_cancelled(Work::inspection) || viewer.gone) throw Cancelled();
    if (shown) yield_in_inspection(viewer, begin);
    train_meanwhile();
  };
  engine.probe(probe, take_snapshot, yield);
  if (publish == Publish::whole && newest) put_newest();
}

void Session::Worker::yield_in_inspection(Viewer& viewer, Clock::time_point begin) {
  if (viewer.asked || waiting_.replace_a_run()) throw Cancelled();
  // The surrounding step, commands waiting for it and other viewers cannot proceed before this forward pass ends: a
  // long one is canceled and repeated later.
  const bool within_step = !works_.may_begin(Work::step);
  bool holds_up = within_step ? !works_.is_running(Work::preparation) : !waiting_.empty();
  if (viewer.id) holds_up = holds_up || viewers_.any(std::mem_fn(&Viewer::waits));
  const bool before_window = viewer.id && viewers_.window.waits();
  if (!before_window && !(holds_up && Clock::now() - begin >= longest_pause_of_training)) return;
  viewer.outdated = true;
  throw Cancelled();
}

// The viewer already shows this sentence: partial snapshots would make its decoding flicker, so only the complete one
// is published.
void Session::Worker::inspect_again(Viewer& viewer) {
  const Probe probe = *viewer.present;
  inspect(viewer, probe, Publish::whole);
}

// Without training there is no reason to wait.
void Session::Worker::inspect_again_if_due() {
  const Clock::duration rest =
      std::max<Clock::duration>(inspection_interval, inspection_rest * viewers_.window_pace.took);
  const bool rested = activity_ != Activity::training || viewers_.window_pace.rested(rest);
  if (viewers_.window.is_outdated() && rested) inspect_again(viewers_.window);
  const auto viewer_rest =
      std::max<Clock::duration>(inspection_interval, viewer_inspection_rest * viewers_.viewer_pace.took);
  if (!viewers_may_inspect(viewer_rest)) return;
  if (Viewer* const next = viewers_.next(std::mem_fn(&Viewer::is_outdated))) inspect_again(*next);
}

void Session::Worker::rerun_probe() {
  viewers_.each([](Viewer& viewer) {
    if (!viewer.waits()) viewer.asked = viewer.present;
  });
}

bool Session::Worker::viewers_may_inspect(Clock::duration rest) const {
  return activity_ != Activity::training || viewers_.viewer_pace.rested(rest);
}

// ---- outgoing events

void Session::Worker::send(Event event) {
  events.push(std::move(event));
  news_ = true;
}

void Session::Worker::say(Severity severity, std::string text) {
  send(Message{severity, std::move(text)});
}

// While training, the metric points carry the step.
void Session::Worker::report_status() {
  for (const RunSide side : both_sides) {
    if (side == RunSide::b && !compares()) return;
    Run& run = runs_[side];
    Status status = run.engine ? run.engine->status() : Status{};
    status.activity = works_.is_running(Work::preparation) ? Activity::preparing : activity_;
    Status known = run.reported.value_or(Status{});
    if (status.activity == Activity::training) known.step = status.step;
    if (run.reported && status == known) continue;
    run.reported = status;
    send(event_of(side, std::move(status)));
  }
}

void Session::Worker::wake_window() {
  if (std::exchange(news_, false) && wake_) wake_();
}

bool Session::Worker::attempt(const char* task, const std::function<void()>& work) {
  return attempt(task, work, [this](Message why) { send(std::move(why)); });
}

bool Session::Worker::attempt(const char* task, const std::function<void()>& work,
                              const std::function<void(Message)>& tell) {
  try {
    work();
    return true;
  } catch (const Cancelled&) {
    throw;
  } catch (...) {
    tell({Severity::error, fmt::format(mark("Could not {}: {}"), task, reason())});
    return false;
  }
}

}  // namespace attnscope
