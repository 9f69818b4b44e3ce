// The worker's side of a session: what it has been asked, where it stands, and the order in which it does things.
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

  // The body of the worker thread, from making the engine to letting go of it; returns soon after a stop is asked for.
  void run(std::stop_token stop);

  using Order = std::variant<Command, ViewerQuestion>;

  // The wires between the threads. Everything private belongs to the worker thread alone.
  Queue<Order> orders;
  Queue<Event> events;
  Queue<ViewerAnswer> answers;
  Mailbox<Snapshot> snapshot;
  Mailbox<Snapshot> other_snapshot;  // of the run that the present one is compared with

 private:
  using Clock = std::chrono::steady_clock;

  // Who looks through the model: the window, or a guest.
  struct Viewer {
    std::optional<ViewerId> id = {};  // none: the window
    std::optional<Probe> asked = {};    // the newest not yet looked at
    std::optional<Probe> present = {};  // what it looks at now
    bool outdated = false;              // the weights have changed since it was looked at
    bool failed = false;                // looking again by ourselves would only repeat the error
    bool gone = false;
  };
  // Of one look after another.
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

  // A command that comes in takes effect at once or waits, in order, for the present update or preparation to end.
  void receive(std::vector<Order> arrived);
  void receive(Command command);
  void receive(ViewerQuestion question);
  void pause();
  void cancel();
  void replace_waiting_adjust(Adjust adjust);

  void ask_for_study(std::optional<StartStudy> asked);  // or for none

  void carry_out_next();
  void carry_out(Command command);
  std::vector<Engine*> engines() const;  // of the runs that there are, the present one first
  bool run_is_there();
  void train();
  void single_step();
  void adjust(const Config& config);
  void save(const std::string& path);
  void save_all(const std::string& path);
  void pin(const std::string& text);
  void unpin(const std::string& text);
  void slow_down(RunOpened& opened, double factor);  // in its learning rate
  void keep_run(const KeepRun& wanted);
  void list_autosaves();
  using Replacement = decltype(NotSaved::wanted);
  // False: the present run cannot be kept, and the window has been told that `wanted` was therefore not done.
  bool keep_or_tell(const Replacement& wanted, const std::function<void()>& keep);
  enum class AfterPreparation { train_on, freeze };  // train on if it was training, and if it succeeds
  using Build = std::function<RunOpened(const ProgressCallback&)>;
  // False: the present run stays.
  bool prepare(const Replacement& wanted, bool discard_unsaved, const char* task, AfterPreparation afterwards,
               const Build& build);
  // What was built, with progress; none: it failed or was cancelled, and that has been said.
  std::optional<RunOpened> built(const char* task, const Build& build);
  bool reset(const Reset& wanted);
  bool open(const OpenRun& wanted);
  bool corpus_wanted() const;
  void read_corpus();
  void take_in(CorpusRead read);
  void open_comparison(const OpenRun& wanted);

  // ---- a run beside the present one
  void reset_all(const Reset& wanted);
  void compare(const Compare& wanted);
  // The engine's new run, announced; what is pinned is so in both.
  void begin_comparison(RunOpened opened);
  void end_comparison(const EndComparison& wanted);
  void drop_other(bool it_stays = false);  // in the place of the present one

  void update();
  bool update(Engine& engine);
  void train_meanwhile();
  void checkpoint_if_due(Engine& engine);
  void stop_at_last_step();
  void record();
  void record(Engine& engine);

  // What must not wait for an update, a preparation or a decoding to end.
  void yield();
  void yield_in_recording();
  void yield_in_preparation(const Progress& progress);
  void yield_in_reading(const Progress& progress);
  void serve_probes();
  void serve_viewer();
  bool run_is_to_be_replaced() const;

  void study();
  void give_way_in_study() const;
  void yield_in_study(std::uint64_t study, double fraction);

  enum class Publish { early_and_whole, whole };
  using SnapshotSink = std::function<void(std::shared_ptr<const Snapshot>)>;
  void inspect(Viewer& viewer, const Probe& probe, Publish publish);
  void inspect_with(Engine& engine, Viewer& viewer, const Probe& probe, Publish publish, const SnapshotSink& put);
  void yield_in_inspection(Viewer& viewer, Clock::time_point begin);
  void inspect_again(Viewer& viewer);
  void inspect_again_if_due();
  void rerun_probe();  // every viewer: the model is another one
  static bool is_outdated(const Viewer& viewer);
  bool viewers_may_inspect(Clock::duration rest) const;
  template <typename Condition>
  Viewer* next_viewer(Condition condition);  // whose turn it is of those; null: none is one
  void remove_gone_viewers();

  void send(Event event);
  template <typename What>
  void send_of(const Engine& engine, What what);
  void say(Severity severity, std::string text);
  void report_status();
  void wake_window();

  // Runs `work`; what it throws becomes the error message "Could not <task>: <why>". False if it threw. Cancelled
  // passes through: it is nobody's mistake.
  bool attempt(const char* task, const std::function<void()>& work);
  bool attempt(const char* task, const std::function<void()>& work, const std::function<void(Message)>& tell);

  const std::function<std::unique_ptr<Engine>()> make_engine_;
  const std::function<void()> wake_;
  std::stop_token stop_;
  std::vector<HeldEngine> runs_;  // until they are taken over
  std::shared_ptr<Engine> engine_;
  std::string engine_error_;       // why there is no engine
  std::shared_ptr<Engine> other_;  // of the run that the present one is compared with; null: nothing is compared
  Config config_;                  // of the present run
  Config other_config_;            // and of the other one

  std::deque<Command> waiting_;  // for the end of the present update, oldest first
  bool run_open_ = false;
  bool corpus_follows_ = false;  // what the present run was trained on has not been read yet
  bool corpus_put_off_ = false;  // until it is needed: reading it was cancelled
  bool reading_corpus_ = false;
  bool preparing_ = false;
  bool cancelled_ = false;              // the preparation under way is to be abandoned
  bool kept_ = false;                   // and nothing has changed since
  bool replacement_abandoned_ = false;  // by the end of the session: what was ordered after it was meant for that run
  Activity activity_ = Activity::idle;  // never `preparing`: what comes after it is kept here meanwhile
  std::optional<Status> reported_;
  std::optional<Status> reported_other_;
  std::optional<Progress> progress_;  // the last one of the preparation under way
  bool news_ = false;                 // something was sent since the window was last woken

  bool occupied_ = false;            // inside an update, a preparation or a recording: no update can begin
  Clock::time_point last_update_{};  // its end

  std::optional<StartStudy> study_asked_;  // waits for the one under way to give way
  bool study_cancelled_ = false;           // and is to be given up
  Clock::time_point last_fraction_{};      // when it last told how far it is

  Viewer window_;
  std::map<ViewerId, Viewer> viewers_;
  ViewerId served_ = 0;                // the guest whose turn was last
  bool inspecting_ = false;            // a look is under way: another one waits for its next breath
  bool inspection_cancelled_ = false;  // the look under way is to be abandoned
  InspectionPace window_pace_;         // of looks that were not abandoned
  InspectionPace viewer_pace_;         // of all
  bool recording_failed_ = false;      // until another sentence is pinned, or another run there
  bool checkpoint_failed_ = false;     // and that has been said
};

}  // namespace attnscope
