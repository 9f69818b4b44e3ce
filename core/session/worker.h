// The worker's side of a session: its queue of commands, its state, and the order of its work.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "session/session.h"
#include "session/viewers.h"
#include "session/waiting_commands.h"
#include "session/works.h"

namespace attnscope {

class Session::Worker {
 public:
  Worker(std::function<std::unique_ptr<Engine>()> make_engine, std::function<void()> wake);
  Worker(std::vector<HeldEngine> runs, std::function<void()> wake);

  // The body of the worker thread, which creates and destroys the engine; returns soon after a stop request.
  void run(std::stop_token stop);

  using Order = std::variant<Command, ViewerQuestion>;

  // The channels between the threads. All private members belong to the worker thread only.
  Queue<Order> orders;
  Queue<Event> events;
  Queue<ViewerAnswer> answers;
  PerRun<Mailbox<Snapshot>> snapshots;

 private:
  using Clock = std::chrono::steady_clock;

  struct Run {
    std::shared_ptr<Engine> engine = {};  // null: no comparison (B), or the engine could not be started (A)
    Config config = {};
    std::optional<Status> reported = {};
  };
  // The corpus of run A. Loading is put off when the user cancels it, until the corpus is needed.
  enum class CorpusState { read, follows, put_off };

  void make_engine();
  void take_over(std::vector<HeldEngine> runs);
  void save_what_is_left();
  void turn();
  bool nothing_to_do() const;

  // An arriving command takes effect at once, or waits in order for the end of the present step or preparation.
  void receive(std::vector<Order> arrived);
  void receive(Command command);
  void receive(ViewerQuestion question);
  void pause();
  void cancel();

  void ask_for_study(std::optional<StartStudy> asked);  // none: cancels it

  void carry_out_next();
  void carry_out(Command command);
  Run& a() { return runs_[RunSide::a]; }
  Run& b() { return runs_[RunSide::b]; }
  bool compares() const { return runs_[RunSide::b].engine != nullptr; }
  std::vector<Engine*> engines() const;  // of the existing runs, A first
  RunSide side_of(const Engine& engine) const;
  bool run_is_there();
  void train();
  void single_step();
  void adjust(const Config& config);
  void save(const std::string& path);
  void save_all(const std::string& path);
  void pin(const std::string& text);
  void unpin(const std::string& text);
  static void slow_down(Engine& engine, RunOpened& opened, double factor);  // reduces its learning rate
  void keep_run(const KeepRun& wanted);
  void go_to_best();
  void list_autosaves();
  using Replacement = decltype(NotSaved::wanted);
  // Returns false if a run cannot be saved; the window has then been told that `wanted` was not executed.
  bool keep_or_tell(const Replacement& wanted, const std::function<void()>& keep);
  enum class AfterPreparation { train_on, freeze };  // train on if it was training, and if it succeeds
  using Build = std::function<RunOpened(const ProgressCallback&)>;
  // Returns false if the present run stays.
  bool prepare(const Replacement& wanted, bool discard_unsaved, const char* task, AfterPreparation afterwards,
               const std::shared_ptr<Engine>& engine, const Build& build);
  // Builds a run with progress reports; none: it failed or was canceled, which has been reported.
  std::optional<RunOpened> built(const char* task, const Build& build);
  bool reset(const Reset& wanted);
  bool open(const OpenRun& wanted);
  bool corpus_wanted() const;
  void read_corpus();
  void take_in(CorpusRead read);
  void open_comparison(const OpenRun& wanted);

  // ---- a second run for comparison
  void reset_all(const Reset& wanted);
  void compare(const Compare& wanted, const std::string& saved_to = {});  // the comparison's folder, if it has one
  // Announces the engine's new run; sentences pinned in one run are pinned in both.
  void begin_comparison(RunOpened opened);
  void end_comparison(const EndComparison& wanted);
  void drop_b(RunSide stays = RunSide::a);

  void update();
  bool update(Engine& engine);
  void train_meanwhile();
  void checkpoint_if_due(Engine& engine);
  void stop_at_last_step();
  void record();
  void record(Engine& engine);

  // Handles everything that must not wait for the end of a step, a preparation or a decoding.
  void yield();
  void yield_in_recording();
  void yield_in_preparation(const Progress& progress);
  void yield_in_reading(const Progress& progress);
  void serve_probes();
  void serve_viewer();

  void study();
  void give_way_in_study() const;
  void train_between_slices(std::uint64_t study, double fraction);
  void yield_in_study(std::uint64_t study, double fraction);

  enum class Publish { early_and_whole, whole };
  using SnapshotSink = std::function<void(std::shared_ptr<const Snapshot>)>;
  void inspect(Viewer& viewer, const Probe& probe, Publish publish);
  void inspect_with(Engine& engine, Viewer& viewer, const Probe& probe, Publish publish, const SnapshotSink& put);
  void yield_in_inspection(Viewer& viewer, Clock::time_point begin);
  void inspect_again(Viewer& viewer);
  void inspect_again_if_due();
  void rerun_probe();  // for every viewer: the model was replaced
  bool viewers_may_inspect(Clock::duration rest) const;

  void send(Event event);
  void say(Severity severity, std::string text);
  void report_status();
  void wake_window();

  // Runs `work`; an exception becomes the error message "Could not <task>: <why>". Returns false if it threw. Cancelled
  // is passed on: it is not an error.
  bool attempt(const char* task, const std::function<void()>& work);
  bool attempt(const char* task, const std::function<void()>& work, const std::function<void(Message)>& tell);

  const std::function<std::unique_ptr<Engine>()> make_engine_;
  const std::function<void()> wake_;
  std::stop_token stop_;
  std::vector<HeldEngine> held_;  // until the engines take over
  PerRun<Run> runs_;
  std::shared_ptr<Engine> models_;  // that runs models: not A's while a capture is open
  std::uint64_t captures_ = 0;      // opened so far
  std::string engine_error_;        // why there is no engine

  // ---- what waits
  WaitingCommands waiting_;
  std::optional<StartStudy> study_asked_;  // waits for the running study to end
  // ---- what runs
  RunningWorks works_;
  Activity activity_ = Activity::idle;  // never `preparing`: holds the activity that follows the preparation
  CorpusState corpus_ = CorpusState::read;
  std::optional<Progress> progress_;   // the last one of the present preparation
  Clock::time_point last_update_{};    // when the last step ended
  Clock::time_point slice_began_{};    // of a study that gives way
  Clock::time_point last_fraction_{};  // of the last progress report
  // ---- who watches
  Viewers viewers_;

  bool run_open_ = false;
  bool kept_ = false;                   // saved, and unchanged since
  bool replacement_abandoned_ = false;  // by the end of the session: commands after it were meant for that run
  bool recording_failed_ = false;       // until another sentence is pinned or another run opened
  bool checkpoint_failed_ = false;      // the failure has been reported
  bool news_ = false;                   // something was sent since the window was last woken
};

}  // namespace attnscope
