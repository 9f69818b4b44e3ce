// The worker's side of a session: its queue of commands, its state, and the order of its work.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "session/session.h"

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
  Mailbox<Snapshot> snapshot;
  Mailbox<Snapshot> other_snapshot;  // of the run that the present one is compared with

 private:
  using Clock = std::chrono::steady_clock;

  // The source of a probe: the window, or a viewer.
  struct Viewer {
    std::optional<ViewerId> id = {};    // none: the window
    std::optional<Probe> asked = {};    // the newest probe not yet answered
    std::optional<Probe> present = {};  // the probe being displayed
    bool outdated = false;              // the weights have changed since the last answer
    bool failed = false;                // the last probe failed; repeating it would only repeat the error
    bool gone = false;
  };
  // The timing of successive forward passes.
  struct InspectionPace {
    Clock::time_point last_end{};
    Clock::duration took{};
  };

  template <typename Do>
  void each_viewer(Do what) {
    what(window_);
    for (auto& [id, viewer] : viewers_) what(viewer);
  }

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
  void replace_waiting_adjust(Adjust adjust);

  void ask_for_study(std::optional<StartStudy> asked);  // none: cancels it

  void carry_out_next();
  void carry_out(Command command);
  std::vector<Engine*> engines() const;  // of the existing runs, the present one first
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
  // Returns false if the present run cannot be saved; the window has then been told that `wanted` was not executed.
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
  void compare(const Compare& wanted);
  // Announces the engine's new run; sentences pinned in one run are pinned in both.
  void begin_comparison(RunOpened opened);
  void end_comparison(const EndComparison& wanted);
  void drop_other(bool it_stays = false);  // it replaces the present one

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
  bool run_is_to_be_replaced() const;

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
  static bool is_outdated(const Viewer& viewer);
  bool viewers_may_inspect(Clock::duration rest) const;
  template <typename Condition>
  Viewer* next_viewer(Condition condition);  // the next in turn that satisfies it; null: none
  void remove_gone_viewers();

  void send(Event event);
  template <typename What>
  void send_of(const Engine& engine, What what);
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
  std::vector<HeldEngine> runs_;  // until the engines take over
  std::shared_ptr<Engine> engine_;  // of the present run
  std::shared_ptr<Engine> models_;  // that runs models: another one while a capture is open
  std::uint64_t captures_ = 0;      // opened so far
  std::string engine_error_;       // why there is no engine
  std::shared_ptr<Engine> other_;  // of the run that the present one is compared with; null: no comparison
  Config config_;                  // of the present run
  Config other_config_;            // of the other one

  std::deque<Command> waiting_;  // until the present step ends, oldest first
  bool run_open_ = false;
  bool corpus_follows_ = false;  // the corpus of the present run has not been loaded yet
  bool corpus_put_off_ = false;  // loading was canceled, until the corpus is needed
  bool reading_corpus_ = false;
  bool preparing_ = false;
  bool cancelled_ = false;              // the present preparation is to be canceled
  bool kept_ = false;                   // saved, and unchanged since
  bool replacement_abandoned_ = false;  // by the end of the session: commands after it were meant for that run
  Activity activity_ = Activity::idle;  // never `preparing`: holds the activity that follows the preparation
  std::optional<Status> reported_;
  std::optional<Status> reported_other_;
  std::optional<Progress> progress_;  // the last one of the present preparation
  bool news_ = false;                 // something was sent since the window was last woken

  bool occupied_ = false;            // inside a step, a preparation or a recording: no step can start
  Clock::time_point last_update_{};  // when it ended

  std::optional<StartStudy> study_asked_;  // waits for the running study to end
  bool study_cancelled_ = false;           // the running study is to be canceled
  Clock::time_point slice_began_{};        // of a study that gives way
  Clock::time_point last_fraction_{};      // of the last progress report

  Viewer window_;
  std::map<ViewerId, Viewer> viewers_;
  ViewerId served_ = 0;                // the viewer served last
  bool inspecting_ = false;            // a forward pass is running: another one waits for its next yield
  bool inspection_cancelled_ = false;  // the running forward pass is to be canceled
  InspectionPace window_pace_;         // of completed forward passes
  InspectionPace viewer_pace_;         // of all forward passes
  bool recording_failed_ = false;      // until another sentence is pinned or another run opened
  bool checkpoint_failed_ = false;     // the failure has been reported
};

}  // namespace attnscope
