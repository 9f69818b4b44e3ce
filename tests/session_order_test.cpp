// In which order a session does what it is asked, what can be taken back, and what becomes of failures.
#include <new>
#include <stdexcept>

#include "fake_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// ---- order

TEST_F(SessionTest, CommandsThatChangeTheRunKeepTheirOrder) {
  start();
  post_all({Reset{with_seed(1)}, Step{}, SaveRun{"a"}, Reset{with_seed(2)}, Step{}, OpenRun{"b"}, SaveRun{"c"}});
  ASSERT_TRUE(wait_until_logged("Saved to c"));
  EXPECT_THAT(script->noted(), ElementsAre("reset 1", "step begins", "step ends", "save a", "reset 2", "step begins",
                                           "step ends", "open b", "save c"));
}

TEST_F(SessionTest, AdjustWaitsForTheEndOfTheUpdateAndOnlyTheNewestCounts) {
  script->on_step = [&](std::int64_t step, const YieldCallback& yield) {
    if (step == 1) script->wait_at_gate(yield);
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
  script->on_step = [&](std::int64_t, const YieldCallback& yield) { script->wait_at_gate(yield); };
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
  ASSERT_TRUE(wait_until_logged("Cancelled. The current run was not changed"));
  EXPECT_TRUE(all<RunOpened>().empty());
  EXPECT_EQ(all<Progress>().back().fraction, 1);
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::training; }));
  EXPECT_TRUE(wait_for([&] { return all<MetricPoint>().size() > 3; }));
}

TEST_F(SessionTest, CancelTakesBackAResetThatWaitsAndNothingAfterIt) {
  script->on_step = [&](std::int64_t step, const YieldCallback& yield) {
    if (step == 1) script->wait_at_gate(yield);
  };
  start_with_run();
  session->post(Step{});
  ASSERT_TRUE(wait_for_gate());
  post_all({Reset{with_seed(2)}, OpenRun{"x"}, Cancel{}, Reset{with_seed(3)}});
  ASSERT_TRUE(wait_until_logged("Cancelled"));
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
  script->on_open = [] { throw std::runtime_error("/x/config.json is missing"); };
  session->post(OpenRun{"/x"});
  ASSERT_TRUE(wait_until_logged("Could not open the run: /x/config.json is missing"));
  script->on_prepare = [](const ProgressCallback& progress) {
    progress({"Opening", 0.2});
    throw std::runtime_error("/y/config.json is missing");
  };
  session->post(OpenRun{.path = "/y", .go_on = true});
  ASSERT_TRUE(wait_until_logged("Could not open the run: /y/config.json is missing"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::idle; }));
  EXPECT_EQ(all<Progress>().back().fraction, 1);
  session->post(Probe{2, "still there"});
  ASSERT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(snapshot->run, 1u);
}

// ---- what an opened model was trained on

TEST_F(SessionTest, AnOpenedModelIsLookedAtBeforeItsCorpusIsRead) {
  script->on_decode = [&](const Probe& probe, const YieldCallback&) { script->note("decoded " + probe.text); };
  start();
  session->post(OpenRun{"x"});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_TRUE(all<RunOpened>()[0].corpus_follows);
  EXPECT_EQ(script->times("corpus read"), 0U);  // nobody has wanted it
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for([&] { return !all<CorpusRead>().empty(); }));
  EXPECT_EQ(all<CorpusRead>()[0].examples.size(), 1U);
  EXPECT_THAT(script->noted(), ElementsAre("open x", "decoded sentence", "probed sentence", "corpus read"));
}

TEST_F(SessionTest, ASentenceIsLookedAtWhileTheCorpusIsRead) {
  script->on_prepare = [&](const ProgressCallback& progress) {
    script->wait_at_gate([&] { progress({"Reading the corpus", 0.5}); });
  };
  start();
  post_all({OpenRun{"x"}, Probe{1, "first"}});
  ASSERT_TRUE(wait_for_gate());
  session->post(Probe{2, "second"});
  ASSERT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_TRUE(all<CorpusRead>().empty());
  script->gate = true;
  EXPECT_TRUE(wait_for([&] { return !all<CorpusRead>().empty(); }));
}

TEST_F(SessionTest, WhatTrainsAsksForTheCorpusFirst) {
  start();
  post_all({OpenRun{"x"}, Step{}});
  ASSERT_TRUE(wait_for([&] { return !all<MetricPoint>().empty(); }));
  EXPECT_THAT(script->noted(), ElementsAre("open x", "corpus read", "step begins", "step ends"));
  post_all({OpenRun{"y"}, Train{}});
  ASSERT_TRUE(wait_for([&] { return script->times("step ends") > 3; }));
  EXPECT_EQ(script->times("corpus read"), 2U);
  post_all({OpenRun{"z"}, StartStudy{}});
  ASSERT_TRUE(wait_for([&] { return script->times("study ends") == 1; }));
  EXPECT_EQ(script->times("corpus read"), 3U);
}

TEST_F(SessionTest, AnotherRunDoesNotWaitForTheCorpusOfThisOne) {
  script->on_prepare = [&](const ProgressCallback& progress) {
    if (script->times("open y") == 0) script->wait_at_gate([&] { progress({"Reading the corpus", 0.5}); });
  };
  start();
  post_all({OpenRun{"x"}, Step{}});
  ASSERT_TRUE(wait_for_gate());
  session->post(OpenRun{"y"});
  ASSERT_TRUE(wait_for([&] { return all<RunOpened>().size() == 2; }));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::idle; }));
  EXPECT_EQ(script->times("step begins"), 0U);  // which the run before was to do
}

TEST_F(SessionTest, ACorpusWhoseReadingIsCancelledIsReadWhenItIsNeeded) {
  script->on_prepare = [&](const ProgressCallback& progress) {
    script->wait_at_gate([&] { progress({"Reading the corpus", 0.5}); });
  };
  start();
  post_all({OpenRun{"x"}, Train{}});
  ASSERT_TRUE(wait_for_gate());
  session->post(Cancel{});
  ASSERT_TRUE(wait_until_logged("Cancelled. The corpus will be read when it is needed"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_EQ(all<Progress>().back().fraction, 1);
  script->gate = true;
  session->post(Probe{1, "sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  EXPECT_EQ(script->times("corpus read") + script->times("step begins"), 0U);
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return !all<MetricPoint>().empty(); }));
  EXPECT_EQ(script->times("corpus read"), 1U);
}

TEST_F(SessionTest, ACorpusThatCannotBeReadIsSaidOnce) {
  script->on_prepare = [](const ProgressCallback&) { throw std::runtime_error("out of memory"); };
  start();
  post_all({OpenRun{"x"}, Probe{1, "sentence"}});
  ASSERT_TRUE(wait_until_logged("Could not read the corpus: out of memory"));
  session->post(Probe{2, "still there"});
  ASSERT_TRUE(wait_for_whole_snapshot(2));
  EXPECT_EQ(all<Message>().size(), 1U);
  EXPECT_EQ(all<CorpusRead>().size(), 1U);
}

// ---- what goes wrong

TEST_F(SessionTest, TheWayBackFromALossThatIsNotFiniteIsSlower) {
  start_with_run();
  Config config;
  session->post(OpenRun{.path = "/state/run", .go_on = true, .discard_unsaved = true, .rate_factor = 0.5});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_EQ(all<RunOpened>()[0].config.training.noam_factor, config.training.noam_factor / 2);
  EXPECT_EQ(all<RunOpened>()[0].config.training.learning_rate, config.training.learning_rate / 2);
}

TEST_F(SessionTest, WhatCannotBeMadeIsNotReplacedByTrainingTheOldRun) {
  std::atomic<bool> broken = false;
  script->on_prepare = [&](const ProgressCallback&) {
    if (!broken) return;
    script->wait_at_gate();
    throw std::runtime_error("no pairs");
  };
  start_with_run();
  broken = true;
  post_all({Reset{}, Train{}});
  script->gate = true;
  ASSERT_TRUE(wait_until_logged("no pairs"));
  session->post(Probe{1, "a"});
  ASSERT_TRUE(wait_for_whole_snapshot(1));
  EXPECT_EQ(script->times("step begins"), 0U);
}

TEST_F(SessionTest, LossThatIsNotFinitePausesAndSaysAtWhichStep) {
  script->on_step = [](std::int64_t step, const YieldCallback&) {
    if (step == 4) throw NotFinite("the weight decoder.norm.bias");
  };
  script->last_saved = Autosave{"/state/run", "run", 3, 0};
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return !all<Diverged>().empty(); }));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_EQ(all<Diverged>()[0].step, 4);
  EXPECT_EQ(all<Diverged>()[0].what, "the weight decoder.norm.bias");
  EXPECT_EQ(all<Diverged>()[0].saved->step, 3);
  EXPECT_EQ(all<MetricPoint>().size(), 3u);
  EXPECT_EQ(last_status.step, 3);
}

TEST_F(SessionTest, WhateverAnUpdateThrowsBecomesAMessageAndTheSessionGoesOn) {
  int failure = 0;
  script->on_step = [&](std::int64_t, const YieldCallback&) {
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
  ASSERT_TRUE(wait_until_logged("Could not train: device lost"));
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  session->post(Train{});
  ASSERT_TRUE(wait_until_logged("Could not train: out of memory"));
  session->post(Train{});
  ASSERT_TRUE(wait_until_logged("Could not train: unknown error"));
  session->post(Step{});
  EXPECT_TRUE(wait_for([&] { return all<MetricPoint>().size() == 1; }));
}

TEST_F(SessionTest, FailedSaveIsSaid) {
  script->on_save = [] { throw std::runtime_error("/x: no space left on device"); };
  start_with_run();
  session->post(SaveRun{"/x"});
  ASSERT_TRUE(wait_until_logged("Could not save the run: /x: no space left on device"));
  EXPECT_FALSE(said("Saved"));
}

TEST_F(SessionTest, WithoutARunTrainingIsAnsweredNotTried) {
  start();
  for (const Command& command : {Command(Train{}), Command(Step{}), Command(SaveRun{"x"})}) {
    seen.clear();
    post_all({Adjust{}, Probe{1, "sentence"}, command});
    ASSERT_TRUE(wait_until_logged("There is no run yet"));
  }
  EXPECT_TRUE(script->noted().empty());
}

TEST_F(SessionTest, EngineThatCannotBeMadeIsSaidAndAnsweredWith) {
  session = std::make_unique<Session>(
      []() -> std::unique_ptr<Engine> { throw std::runtime_error("the tokenizer module is missing"); });
  ASSERT_TRUE(wait_until_logged("the tokenizer module is missing"));
  for (const Command& command : {Command(Train{}), Command(Reset{}), Command(OpenRun{"x"}), Command(SaveRun{"x"})}) {
    seen.clear();
    post_all({Probe{1, "sentence"}, Adjust{}, command});
    ASSERT_TRUE(wait_until_logged("the tokenizer module is missing"));
    EXPECT_EQ(all<Message>().size(), 1u);
  }
  session->post(ListDirectory{"/"});
  EXPECT_TRUE(wait_for([&] { return !all<DirectoryListed>().empty(); }));
}

TEST_F(SessionTest, TrainingEndsAtTheStepsWantedAndTrainGoesOnBeyondThem) {
  script->steps_wanted = 3;
  start_with_run();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::finished; }));
  EXPECT_TRUE(said("All 3 steps of this run are done"));
  EXPECT_EQ(all<MetricPoint>().size(), 3u);
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() >= 6u; }));
  EXPECT_EQ(activity(), Activity::training);
}

}  // namespace
}  // namespace attnscope
