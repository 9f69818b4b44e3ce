// A session driven with a fake engine that does what the test's script says, for as long as it says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "session/session.h"

namespace attnscope {

using Clock = std::chrono::steady_clock;

inline constexpr auto patience = std::chrono::seconds(20);  // only ever spent by a test that fails

// The behavior of the fake engine, set before the session starts, and a record of its calls. The mutex guards lists.
struct Script {
  std::function<void(std::int64_t step, const YieldCallback&)> on_step = [](std::int64_t, const YieldCallback& yield) {
    yield();
  };
  std::function<void(const ProgressCallback&)> on_prepare = [](const ProgressCallback& progress) {
    progress({"Reading", 0.5});
  };
  std::function<void()> on_open = [] {};
  std::function<void(const Probe&, const YieldCallback&)> on_decode = [](const Probe&, const YieldCallback& yield) {
    yield();
  };
  std::function<void(const FractionCallback&)> on_study = [](const FractionCallback& progress) { progress(0.5); };
  std::function<void()> on_save = [] {};
  std::function<std::optional<OpenRun>()> on_keep = [] {
    return std::nullopt;
  };                              // before another run takes the place of this
  std::shared_ptr<Script> other;  // of the engine beside this one; none: there can be none
  std::function<bool(std::int64_t step)> on_checkpoint = [](std::int64_t) { return false; };  // after each update
  std::vector<Autosave> autosaves;
  std::optional<Autosave> last_saved;
  std::atomic<std::int64_t> history_interval = 50;
  std::vector<PinnedSentence> opened_history;                  // comes with every run opened
  std::atomic<std::int64_t> steps_wanted = 1'000'000'000'000;  // steps take a microsecond: no test sees the end
  std::atomic<int> probes_begun = 0;
  std::atomic<bool> gate = false;
  std::atomic<bool> at_gate = false;

  void note(std::string what) {
    std::lock_guard lock(mutex);
    done.push_back(std::move(what));
  }
  std::vector<std::string> noted() {
    std::lock_guard lock(mutex);
    return done;
  }
  std::size_t times(const std::string& what) {
    const auto all = noted();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), what));
  }

  // Blocks a fake engine until the test opens the gate, calling `yield` while it waits.
  void wait_at_gate(const YieldCallback& yield = {}) {
    at_gate = true;
    while (!gate) {
      if (yield) yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

 private:
  std::mutex mutex;
  std::vector<std::string> done;
};

class FakeEngine : public Engine {
 public:
  explicit FakeEngine(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~FakeEngine() override { script_->note("destroyed"); }

  std::unique_ptr<Engine> for_comparison() const override { return std::make_unique<FakeEngine>(script_->other); }

  RunOpened open_model(const std::string& path) override {
    script_->on_open();
    history_ = History(script_->opened_history);
    RunOpened opened = present("open " + path);
    opened.corpus_follows = true;
    return opened;
  }
  CorpusRead read_corpus(const ProgressCallback& progress) override {
    script_->on_prepare(progress);
    script_->note("corpus read");
    return {.examples = {{"a", "b"}}, .warnings = {}};
  }
  RunOpened go_on_with(const std::string& path, const ProgressCallback& progress) override {
    script_->on_prepare(progress);
    return present("go on with " + path);
  }
  RunOpened reset(const Config& config, const ProgressCallback& progress) override {
    script_->on_prepare(progress);
    history_.clear();
    return present("reset " + std::to_string(config.training.seed), config);
  }
  void save_run(const std::string& path) override {
    script_->on_save();
    script_->note("save " + path);
  }
  bool checkpoint_if_due() override { return script_->on_checkpoint(step_); }
  void checkpoint() override {
    script_->on_save();
    script_->note("checkpoint " + std::to_string(step_));
  }
  void use_step(RunOpened& opened, std::int64_t step) override {
    script_->note("use step " + std::to_string(step));
    opened.step = step;
  }
  std::optional<std::int64_t> best_step() const override { return std::nullopt; }
  std::optional<OpenRun> keep() override { return script_->on_keep(); }
  std::optional<Autosave> last_saved() const override { return script_->last_saved; }
  std::vector<Autosave> autosaves() override { return script_->autosaves; }
  void adjust(const Config& config) override {
    script_->note("adjust " + std::to_string(static_cast<int>(config.training.noam_factor)));
  }
  Status status() const override { return {Activity::idle, step_, "fake"}; }
  std::int64_t steps_wanted() const override { return script_->steps_wanted; }
  std::int64_t history_interval() const override { return script_->history_interval; }
  History& history() override { return history_; }
  void record_weights() override { script_->note("weights of step " + std::to_string(step_)); }

  MetricPoint train_step(const YieldCallback& yield) override {
    script_->note("step begins");
    script_->on_step(step_ + 1, yield);
    ++step_;
    script_->note("step ends");
    MetricPoint point;
    point.step = step_;
    return point;
  }

  void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) override {
    ++script_->probes_begun;
    Snapshot seen;
    seen.run = run_;
    seen.step = step_;
    seen.request = probe.request;
    seen.source_text = probe.text;
    seen.positions = std::make_shared<const std::vector<PositionTable>>();
    publish(std::make_shared<Snapshot>(seen));
    script_->on_decode(probe, yield);
    seen.output_text = "whole";
    publish(std::make_shared<Snapshot>(seen));
    script_->note("probed " + probe.text);
  }

  StudyResult study(const StartStudy&, const FractionCallback& progress) override {
    script_->note("study begins");
    StudyResult result{run_, step_, {}};
    script_->on_study(progress);
    script_->note("study ends");
    return result;
  }

 private:
  RunOpened present(const std::string& what, const Config& config = {}) {
    script_->note(what);
    step_ = 0;
    RunOpened opened;
    opened.run = ++run_;
    opened.name = what;
    opened.config = config;
    opened.pinned = history_.sentences();
    return opened;
  }

  std::shared_ptr<Script> script_;
  std::uint64_t run_ = 0;
  std::int64_t step_ = 0;
  History history_;
};

// False where `condition` never came to hold, though `poll` was called again and again.
template <typename Poll, typename Condition>
bool wait_until(Poll poll, Condition condition) {
  const auto end = Clock::now() + patience;
  while (Clock::now() < end) {
    poll();
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

class SessionTest : public testing::Test {
 protected:
  void TearDown() override { script->gate = true; }  // a test that failed half-way must not leave the worker stuck

  void start() {
    session = std::make_unique<Session>([script = script] { return std::make_unique<FakeEngine>(script); },
                                        [this] { ++wakes; });
  }

  // A session with a run in it, and everything said so far forgotten.
  void start_with_run() {
    start();
    session->post(Reset{});
    ASSERT_TRUE(wait_for([&] { return activity() == Activity::idle && !all<RunOpened>().empty(); }));
    seen.clear();
  }

  void post_all(std::vector<Command> commands) {
    for (Command& command : commands) session->post(std::move(command));
  }

  void poll() {
    Session::News news = session->poll();
    for (Event& event : news.events) {
      if (const auto* status = std::get_if<Status>(&event)) last_status = *status;
      seen.push_back(std::move(event));
    }
    snapshot = news.snapshot_a;
    snapshot_b = news.snapshot_b;
  }

  template <typename Condition>
  bool wait_for(Condition condition) {
    return wait_until([&] { poll(); }, condition);
  }

  bool wait_for_gate() {
    return wait_for([&] { return script->at_gate.load(); });
  }

  template <typename Kind>
  std::vector<Kind> all() const {
    std::vector<Kind> found;
    for (const Event& event : seen) {
      if (const auto* kind = std::get_if<Kind>(&event)) found.push_back(*kind);
    }
    return found;
  }

  Activity activity() const { return last_status.activity; }

  // The first message that contains `text`.
  std::optional<Message> said(const std::string& text) const {
    for (const Message& message : all<Message>()) {
      if (message.text.find(text) != std::string::npos) return message;
    }
    return std::nullopt;
  }

  bool wait_until_logged(const std::string& text) {
    return wait_for([&] { return said(text).has_value(); });
  }

  bool wait_for_whole_snapshot(std::uint64_t request) {
    return wait_for([&] { return snapshot && snapshot->request == request && snapshot->output_text == "whole"; });
  }

  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::atomic<int> wakes = 0;
  std::vector<Event> seen;
  Status last_status;
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Snapshot> snapshot_b;
  std::unique_ptr<Session> session;
};

inline Config with_seed(std::int64_t seed) {
  Config config;
  config.training.seed = seed;
  return config;
}

inline Config with_rate(double rate) {
  Config config;
  config.training.noam_factor = rate;
  return config;
}

}  // namespace attnscope
