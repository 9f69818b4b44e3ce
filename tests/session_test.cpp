// The session driven with a slow fake engine: what the window may count on while the worker is busy.
#include "session/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <thread>

#include "session/directory.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 20s;  // only ever spent by a test that fails

// What the fake engine does, set before the session starts, and what it has done. Lists are guarded by the mutex.
struct Script {
  std::function<void(std::int64_t step, const Breath&)> on_step = [](std::int64_t, const Breath& breathe) {
    breathe();
  };
  std::function<void(const ProgressCallback&)> on_prepare = [](const ProgressCallback& progress) {
    progress({"Reading", 0.5});
  };
  std::function<void(const Probe&, const Breath&)> on_decode = [](const Probe&, const Breath& breathe) { breathe(); };
  std::function<void()> on_save = [] {};
  std::atomic<std::int64_t> steps_wanted = 1'000'000;
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

  // Blocks a fake engine until the test opens the gate; with a breath, breathing all the while.
  void wait_at_gate(const Breath& breathe = {}) {
    at_gate = true;
    while (!gate) {
      if (breathe) breathe();
      std::this_thread::sleep_for(1ms);
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

  RunOpened open_run(const std::string& path, const ProgressCallback& progress) override {
    script_->on_prepare(progress);
    return present("open " + path);
  }
  RunOpened reset(const Config& config, const ProgressCallback& progress) override {
    script_->on_prepare(progress);
    return present("reset " + std::to_string(config.training.seed));
  }
  void save_run(const std::string& path) override {
    script_->on_save();
    script_->note("save " + path);
  }
  void adjust(const Config& config) override {
    script_->note("adjust " + std::to_string(static_cast<int>(config.training.learning_rate)));
  }
  Status status() const override { return {Activity::idle, step_, "fake"}; }
  std::int64_t steps_wanted() const override { return script_->steps_wanted; }

  MetricPoint train_step(const Breath& breathe) override {
    script_->note("step begins");
    script_->on_step(step_ + 1, breathe);
    ++step_;
    script_->note("step ends");
    return {step_, 1.0, 0.1, 1.0, 1000, {}};
  }

  void probe(const Probe& probe, const SnapshotCallback& publish, const Breath& breathe) override {
    ++script_->probes_begun;
    Snapshot seen;
    seen.run = run_;
    seen.step = step_;
    seen.request = probe.request;
    seen.source_text = probe.text;
    publish(std::make_shared<Snapshot>(seen));
    script_->on_decode(probe, breathe);
    seen.output_text = "whole";
    publish(std::make_shared<Snapshot>(seen));
    script_->note("probed " + probe.text);
  }

 private:
  RunOpened present(const std::string& what) {
    script_->note(what);
    step_ = 0;
    RunOpened opened;
    opened.run = ++run_;
    opened.name = what;
    return opened;
  }

  std::shared_ptr<Script> script_;
  std::uint64_t run_ = 0;
  std::int64_t step_ = 0;
};

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
    snapshot = news.snapshot;
  }

  template <typename Condition>
  bool wait_for(Condition condition) {
    const auto end = Clock::now() + patience;
    while (Clock::now() < end) {
      poll();
      if (condition()) return true;
      std::this_thread::sleep_for(1ms);
    }
    return false;
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

  bool wait_until_said(const std::string& text) {
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
  std::unique_ptr<Session> session;
};

Config with_seed(std::int64_t seed) {
  Config config;
  config.training.seed = seed;
  return config;
}

Config with_rate(double rate) {
  Config config;
  config.training.learning_rate = rate;
  return config;
}

// ---- the window never waits

TEST_F(SessionTest, PollAndPostReturnWhileTheWorkerIsStuckInAnUpdateThatDoesNotBreathe) {
  script->on_step = [&](std::int64_t, const Breath&) { script->wait_at_gate(); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  // If one of these waited for the worker it would wait for ever: only this thread opens the gate.
  std::vector<Clock::duration> times;
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    const auto begin = Clock::now();
    session->post(Probe{i, "typed"});
    session->poll();
    times.push_back(Clock::now() - begin);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[times.size() / 2], 1ms);
  EXPECT_LT(times[times.size() * 95 / 100], 1ms);  // the rest is left to what else the machine does
  script->gate = true;
  EXPECT_TRUE(wait_for_whole_snapshot(2000));
}

TEST_F(SessionTest, PollsStayShortWhileASlowTrainerFloodsTheQueue) {
  start_with_run();
  post_all({Train{}, Probe{1, "sentence"}});
  std::vector<Clock::duration> times;
  for (int i = 0; i < 300; ++i) {
    const auto begin = Clock::now();
    session->poll();
    times.push_back(Clock::now() - begin);
    std::this_thread::sleep_for(1ms);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[times.size() / 2], 1ms);
}

TEST_F(SessionTest, DestructorEndsALongUpdateAtItsNextBreath) {
  script->on_step = [&](std::int64_t, const Breath& breathe) { script->wait_at_gate(breathe); };  // never opened
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  session.reset();  // a session that does not stop hangs here
  EXPECT_EQ(script->times("destroyed"), 1u);
}

TEST_F(SessionTest, DestructorEndsAnIdleSessionAPreparationAndADecoding) {
  start_with_run();
  session.reset();

  script->on_prepare = [&](const ProgressCallback& progress) {
    script->wait_at_gate([&] { progress({"Reading", 0.1}); });
  };
  start();
  session->post(Reset{});
  ASSERT_TRUE(wait_for_gate());
  session.reset();

  script->at_gate = false;
  script->on_prepare = [](const ProgressCallback&) {};
  script->on_decode = [&](const Probe&, const Breath& breathe) { script->wait_at_gate(breathe); };
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_gate());
  session.reset();
  EXPECT_EQ(script->times("destroyed"), 3u);
}

// ---- typing

TEST_F(SessionTest, ProbeIsAnsweredInsideAnUpdate) {
  script->on_step = [&](std::int64_t, const Breath& breathe) { script->wait_at_gate(breathe); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  session->post(Probe{7, "typed"});
  EXPECT_TRUE(wait_for_whole_snapshot(7));
  EXPECT_EQ(script->times("step ends"), 0u);
  script->gate = true;
}

TEST_F(SessionTest, OfManyProbesWaitingOnlyTheNewestIsAnswered) {
  script->on_step = [&](std::int64_t, const Breath& breathe) {
    script->wait_at_gate();
    breathe();
  };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for_gate());
  for (std::uint64_t i = 1; i <= 100; ++i) session->post(Probe{i, std::to_string(i)});
  script->gate = true;
  ASSERT_TRUE(wait_for_whole_snapshot(100));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_LE(script->probes_begun, 2);  // inside the update, and once more with the weights after it
}

TEST_F(SessionTest, NewerProbeEndsADecodingThatHasShownItsBeginning) {
  script->on_decode = [&](const Probe& probe, const Breath& breathe) {
    if (probe.text == "endless") script->wait_at_gate(breathe);
  };
  start_with_run();
  session->post(Probe{1, "endless"});
  ASSERT_TRUE(wait_for([&] { return snapshot && snapshot->request == 1; }));
  EXPECT_EQ(snapshot->output_text, "");
  session->post(Probe{2, "short"});
  EXPECT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(script->times("probed endless"), 0u);
}

TEST_F(SessionTest, ProbeBreathingBeforeItHasShownAnythingIsNotAbandoned) {
  // An engine whose first breath comes before its early snapshot, with a newer sentence always waiting.
  class EarlyBreather : public FakeEngine {
   public:
    using FakeEngine::FakeEngine;
    std::function<void()> before_first;
    void probe(const Probe& probe, const SnapshotCallback& publish, const Breath& breathe) override {
      before_first();
      breathe();
      FakeEngine::probe(probe, publish, breathe);
    }
  };
  std::atomic<std::uint64_t> request = 1;
  session = std::make_unique<Session>([&] {
    auto engine = std::make_unique<EarlyBreather>(script);
    engine->before_first = [&] {
      if (request < 20) session->post(Probe{++request, "typed"});
    };
    return engine;
  });
  post_all({Reset{}, Probe{1, "typed"}});
  ASSERT_TRUE(wait_for_whole_snapshot(20));
  EXPECT_EQ(script->probes_begun, 20);  // every one got as far as its early snapshot
}

TEST_F(SessionTest, SentenceIsLookedAtAgainWhileTrainingAndOnceMoreWhenItPauses) {
  script->on_step = [](std::int64_t, const Breath& breathe) {
    std::this_thread::sleep_for(5ms);
    breathe();
  };
  start_with_run();
  post_all({Probe{3, "sentence"}, Train{}});
  ASSERT_TRUE(wait_for([&] { return snapshot && snapshot->request == 3 && snapshot->step > 20; }));
  session->post(Pause{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_TRUE(wait_for([&] { return snapshot->step == last_status.step; }));
}

TEST_F(SessionTest, LookingAgainNeverShowsHalfASnapshot) {
  script->on_decode = [](const Probe&, const Breath&) { std::this_thread::sleep_for(5ms); };
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  session->post(Train{});
  bool half = false;
  ASSERT_TRUE(wait_for([&] {
    half |= snapshot->output_text != "whole";
    return script->probes_begun > 4;
  }));
  EXPECT_FALSE(half);
}

TEST_F(SessionTest, LookingAgainTakesAtMostAFifthOfTheWorkersTime) {
  script->on_decode = [](const Probe&, const Breath&) { std::this_thread::sleep_for(100ms); };
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  session->post(Train{});
  const int before = script->probes_begun;
  const auto begin = Clock::now();
  ASSERT_TRUE(wait_for([&] { return script->probes_begun >= before + 3; }));
  EXPECT_GE(Clock::now() - begin, 1000ms);  // two whole looks and the three rests of at least 400 ms, less a margin
}

TEST_F(SessionTest, SentenceIsLookedAtWhenARunComes) {
  start();
  session->post(Probe{5, "early"});  // before there is any run
  session->post(Reset{});
  ASSERT_TRUE(wait_for_whole_snapshot(5));
  EXPECT_EQ(snapshot->run, 1u);
  session->post(OpenRun{"/runs/other"});
  EXPECT_TRUE(wait_for([&] { return snapshot->run == 2; }));
  EXPECT_EQ(snapshot->request, 5u);
}

TEST_F(SessionTest, FailingProbeIsSaidOnceAndTrainingGoesOn) {
  script->on_decode = [](const Probe&, const Breath&) { throw std::runtime_error("no such piece"); };
  start_with_run();
  post_all({Probe{1, "sentence"}, Train{}});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() > 5; }));
  std::this_thread::sleep_for(300ms);  // three times the interval at which it would be looked at again
  poll();
  EXPECT_EQ(all<Message>().size(), 1u);
  EXPECT_TRUE(said("Could not look at the sentence: no such piece"));
}

// ---- order

TEST_F(SessionTest, CommandsThatChangeTheRunKeepTheirOrder) {
  start();
  post_all({Reset{with_seed(1)}, Step{}, SaveRun{"a"}, Reset{with_seed(2)}, Step{}, OpenRun{"b"}, SaveRun{"c"}});
  ASSERT_TRUE(wait_until_said("Saved to c"));
  EXPECT_THAT(script->noted(), ElementsAre("reset 1", "step begins", "step ends", "save a", "reset 2", "step begins",
                                           "step ends", "open b", "save c"));
}

TEST_F(SessionTest, AdjustWaitsForTheEndOfTheUpdateAndOnlyTheNewestCounts) {
  script->on_step = [&](std::int64_t step, const Breath& breathe) {
    if (step == 1) script->wait_at_gate(breathe);
  };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for_gate());
  for (int rate = 1; rate <= 50; ++rate) session->post(Adjust{with_rate(rate)});
  session->post(ListDirectory{"/"});
  ASSERT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));  // so all of them have come in
  session->post(Step{});
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return last_status.step == 2 && activity() == Activity::paused; }));
  EXPECT_THAT(script->noted(),
              ElementsAre("reset 1", "step begins", "step ends", "adjust 50", "step begins", "step ends"));
}

TEST_F(SessionTest, PauseTakesEffectAfterThePresentUpdate) {
  script->on_step = [&](std::int64_t, const Breath& breathe) { script->wait_at_gate(breathe); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  post_all({Pause{}, ListDirectory{"/"}});
  ASSERT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_EQ(last_status.step, 1);
  EXPECT_EQ(script->times("step ends"), 1u);
}

TEST_F(SessionTest, PauseTakesBackATrainThatWaits) {
  script->on_prepare = [&](const ProgressCallback& progress) {
    script->wait_at_gate([&] { progress({"Reading", 0.1}); });
  };
  start();
  post_all({Reset{}, Train{}, Pause{}, ListDirectory{"/"}});
  ASSERT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty() && activity() == Activity::idle; }));
  EXPECT_EQ(script->times("step begins"), 0u);
}

TEST_F(SessionTest, StepTrainsOnceAndPauses) {
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_EQ(all<MetricPoint>().size(), 1u);
  EXPECT_EQ(last_status, (Status{Activity::paused, 1, "fake"}));
}

TEST_F(SessionTest, EveryUpdateGivesOneMetricPoint) {
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() >= 500; }));
  const auto points = all<MetricPoint>();
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i) + 1);
}

// ---- preparing

TEST_F(SessionTest, CancelledResetKeepsTheRunAndItsTraining) {
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  script->on_prepare = [&](const ProgressCallback& progress) {
    script->wait_at_gate([&] { progress({"Reading", 0.1}); });
  };
  post_all({Train{}, Reset{with_seed(2)}});
  ASSERT_TRUE(wait_for_gate());
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::preparing; }));
  session->post(Probe{2, "typed meanwhile"});
  ASSERT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(snapshot->run, 1u);
  session->post(Cancel{});
  ASSERT_TRUE(wait_until_said("Cancelled: the present run stays"));
  EXPECT_TRUE(all<RunOpened>().empty());
  EXPECT_EQ(all<Progress>().back().fraction, 1);
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::training; }));
  EXPECT_TRUE(wait_for([&] { return all<MetricPoint>().size() > 3; }));
}

TEST_F(SessionTest, CancelTakesBackAResetThatWaitsAndNothingAfterIt) {
  script->on_step = [&](std::int64_t step, const Breath& breathe) {
    if (step == 1) script->wait_at_gate(breathe);
  };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for_gate());
  post_all({Reset{with_seed(2)}, OpenRun{"x"}, Cancel{}, Reset{with_seed(3)}});
  ASSERT_TRUE(wait_until_said("Cancelled"));
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_THAT(script->noted(), ElementsAre("reset 1", "step begins", "step ends", "reset 3"));
}

TEST_F(SessionTest, CancelWithNothingToCancelIsSilent) {
  start_with_run();
  post_all({Cancel{}, Reset{with_seed(2)}});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_TRUE(all<Message>().empty());
}

TEST_F(SessionTest, ResetTrainsOnAndOpenStandsStill) {
  start_with_run();
  post_all({Train{}, Reset{with_seed(2)}});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty() && !all<MetricPoint>().empty(); }));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::training; }));
  session->post(OpenRun{"x"});
  EXPECT_TRUE(wait_for([&] { return activity() == Activity::idle; }));
  EXPECT_EQ(all<RunOpened>().back().name, "open x");
  post_all({OpenRun{"y"}, Train{}});  // a Train after it is obeyed
  EXPECT_TRUE(wait_for([&] { return activity() == Activity::training; }));
}

TEST_F(SessionTest, FailedOpenIsSaidAndKeepsTheRun) {
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  script->on_prepare = [](const ProgressCallback& progress) {
    progress({"Opening", 0.2});
    throw std::runtime_error("/x/config.json is missing");
  };
  session->post(OpenRun{"/x"});
  ASSERT_TRUE(wait_until_said("Could not open the run: /x/config.json is missing"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::idle; }));
  EXPECT_EQ(all<Progress>().back().fraction, 1);
  session->post(Probe{2, "still there"});
  ASSERT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(snapshot->run, 1u);
}

// ---- what goes wrong

TEST_F(SessionTest, LossThatIsNotFinitePausesAndSaysAtWhichStep) {
  script->on_step = [](std::int64_t step, const Breath&) {
    if (step == 4) throw NotFinite("loss is nan");
  };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("loss is not finite at step 4: training is paused. Lower the learning rate"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_EQ(said("not finite")->severity, Severity::error);
  EXPECT_EQ(all<MetricPoint>().size(), 3u);
  EXPECT_EQ(last_status.step, 3);
}

TEST_F(SessionTest, WhateverAnUpdateThrowsBecomesAMessageAndTheSessionGoesOn) {
  int failure = 0;
  script->on_step = [&](std::int64_t, const Breath&) {
    switch (++failure) {
      case 1:
        throw std::runtime_error("device lost");
      case 2:
        throw std::bad_alloc();
      case 3:
        throw 42;
      default:
        break;
    }
  };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("Could not train: device lost"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("Could not train: out of memory"));
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("Could not train: unknown error"));
  session->post(Step{});
  EXPECT_TRUE(wait_for([&] { return all<MetricPoint>().size() == 1; }));
}

TEST_F(SessionTest, FailedSaveIsSaid) {
  script->on_save = [] { throw std::runtime_error("/x: no space left on device"); };
  start_with_run();
  session->post(SaveRun{"/x"});
  ASSERT_TRUE(wait_until_said("Could not save the run: /x: no space left on device"));
  EXPECT_FALSE(said("Saved"));
}

TEST_F(SessionTest, WithoutARunTrainingIsAnsweredNotTried) {
  start();
  for (const Command& command : {Command(Train{}), Command(Step{}), Command(SaveRun{"x"})}) {
    seen.clear();
    post_all({Adjust{}, Probe{1, "sentence"}, command});
    ASSERT_TRUE(wait_until_said("There is no run yet"));
  }
  EXPECT_TRUE(script->noted().empty());
}

TEST_F(SessionTest, EngineThatCannotBeMadeIsSaidAndAnsweredWith) {
  session = std::make_unique<Session>(
      []() -> std::unique_ptr<Engine> { throw std::runtime_error("the tokenizer module is missing"); });
  ASSERT_TRUE(wait_until_said("the tokenizer module is missing"));
  for (const Command& command : {Command(Train{}), Command(Reset{}), Command(OpenRun{"x"}), Command(SaveRun{"x"})}) {
    seen.clear();
    post_all({Probe{1, "sentence"}, Adjust{}, command});
    ASSERT_TRUE(wait_until_said("the tokenizer module is missing"));
    EXPECT_EQ(all<Message>().size(), 1u);
  }
  session->post(ListDirectory{"/"});
  EXPECT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
}

TEST_F(SessionTest, TrainingEndsAtTheStepsWantedAndGoesOnWhenTheyAreRaised) {
  script->steps_wanted = 3;
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::finished; }));
  EXPECT_TRUE(said("Training finished at step 3"));
  EXPECT_TRUE(said("raise steps"));
  seen.clear();
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("raise steps"));
  EXPECT_TRUE(all<MetricPoint>().empty());
  script->steps_wanted = 5;
  session->post(Train{});
  ASSERT_TRUE(wait_until_said("Training finished at step 5"));
  EXPECT_EQ(all<MetricPoint>().size(), 2u);
}

// ---- waking, sleeping, listing

TEST_F(SessionTest, WindowIsWokenWhenThereIsNews) {
  start_with_run();
  std::this_thread::sleep_for(50ms);
  poll();
  const int before = wakes;
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(wakes, before);  // nothing new: left asleep
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  const int with_step = wakes;
  EXPECT_GT(with_step, before);
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  EXPECT_TRUE(wait_for([&] { return wakes > with_step; }));
}

TEST_F(SessionTest, IdleWorkerUsesNoProcessorTime) {
  start_with_run();
  std::this_thread::sleep_for(50ms);
  const std::clock_t before = std::clock();  // of all threads
  std::this_thread::sleep_for(300ms);
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

class DirectoryTest : public testing::Test {
 protected:
  DirectoryTest() {
    std::string name = (std::filesystem::temp_directory_path() / "attnscope_XXXXXX").string();
    folder = ::mkdtemp(name.data());
    std::filesystem::create_directories(folder / "zebra");
    std::filesystem::create_directories(folder / "a run");
    std::ofstream(folder / "a run" / "config.json") << "{}";
    std::ofstream(folder / "b.tsv") << "12345";
    std::ofstream(folder / "Été.txt") << "";
    std::filesystem::create_symlink(folder / "nowhere", folder / "broken");
  }
  ~DirectoryTest() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

TEST_F(DirectoryTest, ListsDirectoriesFirstThenByName) {
  const DirectoryListed listed = list_directory((folder / "zebra" / ".." / "").string());
  EXPECT_EQ(listed.path, folder.string());
  EXPECT_EQ(listed.error, "");
  std::vector<std::string> names;
  for (const DirectoryEntry& entry : listed.entries) names.push_back(entry.name);
  ASSERT_THAT(names, ElementsAre("a run", "zebra", "b.tsv", "broken", "Été.txt"));
  EXPECT_TRUE(listed.entries[0].is_directory);
  EXPECT_TRUE(listed.entries[0].is_run);
  EXPECT_FALSE(listed.entries[1].is_run);
  EXPECT_FALSE(listed.entries[2].is_directory);
  EXPECT_EQ(listed.entries[2].size, 5u);
  EXPECT_EQ(listed.entries[3].size, 0u);
}

TEST_F(DirectoryTest, SaysWhyAFolderCannotBeRead) {
  const DirectoryListed missing = list_directory((folder / "missing").string());
  EXPECT_THAT(missing.error, HasSubstr("missing cannot be read: No such file or directory"));
  EXPECT_TRUE(missing.entries.empty());
  EXPECT_THAT(list_directory((folder / "b.tsv").string()).error, HasSubstr("Not a directory"));
}

TEST_F(DirectoryTest, EmptyPathIsTheHomeDirectory) {
  const char* home = std::getenv("HOME");
  const std::string expected = home != nullptr && *home != '\0' ? home : "/";
  EXPECT_EQ(list_directory("").path, std::filesystem::path(expected).lexically_normal().string());
}

TEST_F(SessionTest, MissingDirectoryIsAnsweredWithItsError) {
  start();
  session->post(ListDirectory{"/no/such/folder"});
  ASSERT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
  EXPECT_EQ(all<DirectoryListed>()[0].path, "/no/such/folder");
  EXPECT_THAT(all<DirectoryListed>()[0].error, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace attnscope
