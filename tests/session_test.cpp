// Promises to the window while the worker is busy: it never waits, and the sentence is evaluated.
#include <ctime>
#include <stdexcept>

#include "fake_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// ---- the window never waits

// Were one of these to wait for the worker, it would wait for ever: only this thread opens the gate.
TEST_F(SessionTest, PollAndPostReturnWhileTheWorkerIsStuckInAnUpdateThatDoesNotBreathe) {
  script->on_step = [&](std::int64_t, const YieldCallback&) { script->wait_at_gate(); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  for (std::uint64_t i = 1; i <= 2000; ++i) {
    session->post(Probe{i, "typed"});
    session->poll();
  }
  EXPECT_EQ(script->times("step ends"), 0u);
  script->gate = true;
  EXPECT_TRUE(wait_for_whole_snapshot(2000));
}

TEST_F(SessionTest, APollTakesAllThatAFloodOfUpdatesLeftAndTheNextOneOnlyWhatIsNew) {
  script->on_step = [&](std::int64_t step, const YieldCallback&) {
    if (step == 5000) script->wait_at_gate();
  };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  poll();  // what was sent since the last one
  const auto points = all<MetricPoint>();
  ASSERT_EQ(points.size(), 4999u);
  for (std::size_t i = 0; i < points.size(); ++i) ASSERT_EQ(points[i].step, static_cast<std::int64_t>(i) + 1);
  EXPECT_TRUE(session->poll().events.empty());
  script->gate = true;
}

TEST_F(SessionTest, DestructorEndsALongUpdateAtItsNextBreath) {
  script->on_step = [&](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };  // never opened
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
  script->on_decode = [&](const Probe&, const YieldCallback& yield) { script->wait_at_gate(yield); };
  start_with_run();
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_gate());
  session.reset();
  EXPECT_EQ(script->times("destroyed"), 3u);
}

// ---- typing

TEST_F(SessionTest, ProbeIsAnsweredInsideAnUpdate) {
  script->on_step = [&](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for_gate());
  session->post(Probe{7, "typed"});
  EXPECT_TRUE(wait_for_whole_snapshot(7));
  EXPECT_EQ(script->times("step ends"), 0u);
  script->gate = true;
}

TEST_F(SessionTest, OfManyProbesWaitingOnlyTheNewestIsAnswered) {
  script->on_step = [&](std::int64_t, const YieldCallback& yield) {
    script->wait_at_gate();
    yield();
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
  script->on_decode = [&](const Probe& probe, const YieldCallback& yield) {
    if (probe.text == "endless") script->wait_at_gate(yield);
  };
  start_with_run();
  session->post(Probe{1, "endless"});
  ASSERT_TRUE(wait_for([&] { return snapshot && snapshot->request == 1; }));
  EXPECT_EQ(snapshot->output_text, "");
  session->post(Probe{2, "short"});
  EXPECT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(script->times("probed endless"), 0u);
}

TEST_F(SessionTest, TrainingGoesOnWhileALongOutputIsDecoded) {
  script->on_decode = [&](const Probe& probe, const YieldCallback& yield) {
    if (probe.text == "long") script->wait_at_gate(yield);
  };
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return script->times("step ends") > 3; }));
  session->post(Probe{1, "long"});
  ASSERT_TRUE(wait_for_gate());
  const std::size_t before = script->times("step ends");
  EXPECT_TRUE(wait_for([&] { return script->times("step ends") >= before + 2; }));
  EXPECT_EQ(script->times("probed long"), 0u);
  session->post(Probe{2, "short"});  // is not kept waiting either
  EXPECT_TRUE(wait_for_whole_snapshot(2));
}

TEST_F(SessionTest, ALongOutputInsideAnUpdateGivesWayToItAndIsFinishedAfterIt) {
  script->on_step = [&](std::int64_t, const YieldCallback& yield) {
    while (script->probes_begun == 0) yield();
  };
  script->on_decode = [&](const Probe&, const YieldCallback& yield) {
    while (script->times("step ends") == 0) yield();
  };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return script->times("step begins") == 1; }));
  session->post(Probe{1, "long"});
  EXPECT_TRUE(wait_for_whole_snapshot(1));
  EXPECT_EQ(script->probes_begun, 2);
}

TEST_F(SessionTest, ALongOutputGivesWayToACommand) {
  script->on_decode = [&](const Probe&, const YieldCallback& yield) {
    while (script->times("save somewhere") == 0) yield();
  };
  start_with_run();
  session->post(Probe{1, "long"});
  ASSERT_TRUE(wait_for([&] { return script->probes_begun > 0; }));
  session->post(SaveRun{"somewhere"});
  EXPECT_TRUE(wait_for_whole_snapshot(1));
  EXPECT_EQ(script->probes_begun, 2);
}

TEST_F(SessionTest, InsideAnUpdateOnlyTheSentenceIsLookedAtAndItsDecodingsFollow) {
  std::vector<bool> decodings;  // asked of the engine, on the worker's thread
  script->on_decode = [&](const Probe& probe, const YieldCallback&) {
    decodings.push_back(probe.decoding);
    script->note("looked");
  };
  script->on_step = [&](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for_gate());
  Probe probe{7, "typed"};
  probe.decoding = true;
  session->post(probe);
  ASSERT_TRUE(wait_for_whole_snapshot(7));
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return script->times("looked") == 2; }));
  session.reset();
  EXPECT_EQ(decodings, (std::vector<bool>{false, true}));
}

TEST_F(SessionTest, ALongDecodingCanBeCancelled) {
  script->on_decode = [&](const Probe&, const YieldCallback& yield) { script->wait_at_gate(yield); };
  start_with_run();
  session->post(Probe{1, "endless"});
  ASSERT_TRUE(wait_for_gate());
  session->post(Cancel{});
  session->post(SaveRun{"saved"});
  EXPECT_TRUE(wait_until_logged("Saved to saved"));
  EXPECT_EQ(script->times("probed endless"), 0u);
}

TEST_F(SessionTest, ProbeBreathingBeforeItHasShownAnythingIsNotAbandoned) {
  // An engine whose first breath comes before its early snapshot, with a newer sentence always waiting.
  class EarlyYielder : public FakeEngine {
   public:
    using FakeEngine::FakeEngine;
    std::function<void()> before_first;
    void probe(const Probe& probe, const SnapshotCallback& publish, const YieldCallback& yield) override {
      before_first();
      yield();
      FakeEngine::probe(probe, publish, yield);
    }
  };
  std::atomic<std::uint64_t> request = 1;
  session = std::make_unique<Session>([&] {
    auto engine = std::make_unique<EarlyYielder>(script);
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
  script->on_step = [](std::int64_t, const YieldCallback& yield) {
    std::this_thread::sleep_for(5ms);
    yield();
  };
  start_with_run();
  post_all({Probe{3, "sentence"}, Train{}});
  ASSERT_TRUE(wait_for([&] { return snapshot && snapshot->request == 3 && snapshot->step > 20; }));
  session->post(Pause{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_TRUE(wait_for([&] { return snapshot->step == last_status.step; }));
}

TEST_F(SessionTest, LookingAgainNeverShowsHalfASnapshot) {
  script->on_decode = [](const Probe&, const YieldCallback&) { std::this_thread::sleep_for(5ms); };
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
  script->on_decode = [](const Probe&, const YieldCallback&) { std::this_thread::sleep_for(100ms); };
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
  script->on_decode = [](const Probe&, const YieldCallback&) { throw std::runtime_error("no such piece"); };
  start_with_run();
  post_all({Probe{1, "sentence"}, Train{}});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() > 5; }));
  std::this_thread::sleep_for(300ms);  // three times the interval at which it would be looked at again
  poll();
  EXPECT_EQ(all<Message>().size(), 1u);
  EXPECT_TRUE(said("Could not run the model on the sentence: no such piece"));
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

TEST_F(SessionTest, MissingDirectoryIsAnsweredWithItsError) {
  start();
  session->post(ListDirectory{"/no/such/folder"});
  ASSERT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
  EXPECT_EQ(all<DirectoryListed>()[0].path, "/no/such/folder");
  EXPECT_THAT(all<DirectoryListed>()[0].error, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace attnscope
