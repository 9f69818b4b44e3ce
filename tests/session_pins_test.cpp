// Pinned sentences: looked at while training, without holding up anything else.
#include <stdexcept>

#include "fake_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class PinsTest : public SessionTest {
 protected:
  std::vector<std::int64_t> steps_of(const std::string& text) const {
    std::vector<std::int64_t> steps;
    for (const FrameRecorded& recorded : all<FrameRecorded>()) {
      if (recorded.frame->source_text == text) steps.push_back(recorded.frame->step);
    }
    return steps;
  }

  // Every frame at its step is there when the step is.
  bool train_to(std::int64_t step) {
    script->steps_wanted = step;
    session->post(Train{});
    return wait_for([&] { return activity() == Activity::finished && last_status.step == step; });
  }

  // A decoding of the sentence `text` breathes until the gate is opened.
  void hold_decoding_of(const std::string& text, std::int64_t from_step) {
    script->on_step = [this, from_step](std::int64_t step, const YieldCallback& yield) {
      yield();
      held_ = step >= from_step;
    };
    script->on_decode = [this, text](const Probe& probe, const YieldCallback& yield) {
      if (held_ && probe.text == text) script->wait_at_gate(yield);
    };
  }

 private:
  std::atomic<bool> held_ = false;
};

TEST_F(PinsTest, FramesComeAtThePresentStepAndAtEveryInterval) {
  script->history_interval = 10;
  start_with_run();
  session->post(Pin{"it"});
  ASSERT_TRUE(train_to(35));
  EXPECT_THAT(steps_of("it"), ElementsAre(0, 10, 20, 30));
  for (const FrameRecorded& recorded : all<FrameRecorded>()) {
    EXPECT_EQ(recorded.frame->output_text, "whole");
    EXPECT_EQ(recorded.frame->run, 1u);
    EXPECT_TRUE(recorded.frame->positions);
  }
  session->post(Pin{"late"});
  ASSERT_TRUE(train_to(45));
  EXPECT_THAT(steps_of("late"), ElementsAre(35, 40));
  EXPECT_THAT(steps_of("it"), ElementsAre(0, 10, 20, 30, 35, 40));  // all of them are seen at the steps that any is
}

TEST_F(PinsTest, UnpinnedSentencesAreLookedAtNoMore) {
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"a"}, Pin{"b"}, Unpin{"a"}, Unpin{"never pinned"}});
  ASSERT_TRUE(train_to(20));
  EXPECT_THAT(steps_of("a"), ElementsAre(0));
  EXPECT_THAT(steps_of("b"), ElementsAre(0, 10, 20));
  EXPECT_EQ(all<SentencePinned>().size(), 2u);
  ASSERT_EQ(all<SentenceUnpinned>().size(), 1u);
  EXPECT_EQ(all<SentenceUnpinned>()[0].text, "a");
}

TEST_F(PinsTest, PinningTwiceOrTooManyChangesNothing) {
  start_with_run();
  for (std::size_t i = 0; i < max_pinned; ++i) post_all({Pin{std::to_string(i)}, Pin{std::to_string(i)}});
  session->post(Pin{"one more"});
  ASSERT_TRUE(wait_until_logged("16 sentences are pinned, which is the maximum: unpin one first"));
  EXPECT_EQ(all<SentencePinned>().size(), max_pinned);
  EXPECT_EQ(all<FrameRecorded>().size(), max_pinned);
  EXPECT_THAT(steps_of("one more"), IsEmpty());
}

TEST_F(PinsTest, WithoutARunPinningIsAnswered) {
  start();
  session->post(Pin{"it"});
  ASSERT_TRUE(wait_until_logged("There is no run yet"));
  EXPECT_TRUE(all<SentencePinned>().empty());
}

TEST_F(PinsTest, RecordingLeavesTheSentenceTheWindowLooksAtAlone) {
  script->history_interval = 1;
  start_with_run();
  session->post(Probe{4, "typed"});
  ASSERT_TRUE(wait_for_whole_snapshot(4));
  session->post(Pin{"it"});
  bool strange = false;
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] {
    strange |= snapshot->source_text != "typed" || snapshot->request != 4;
    return steps_of("it").size() > 50 && snapshot->step > 0;
  }));
  EXPECT_FALSE(strange);
}

TEST_F(PinsTest, TypingIsAnsweredWhileRecording) {
  hold_decoding_of("it", 10);
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"it"}, Train{}});
  ASSERT_TRUE(wait_for_gate());
  session->post(Probe{7, "typed"});
  EXPECT_TRUE(wait_for_whole_snapshot(7));
  EXPECT_EQ(snapshot->step, 10);
  EXPECT_THAT(steps_of("it"), ElementsAre(0));  // still being recorded
  script->gate = true;
  EXPECT_TRUE(wait_for([&] { return steps_of("it").size() > 1; }));
  EXPECT_EQ(steps_of("it")[1], 10);
}

TEST_F(PinsTest, PauseWhileRecordingStillRecordsThatStep) {
  hold_decoding_of("it", 10);
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"it"}, Train{}});
  ASSERT_TRUE(wait_for_gate());
  session->post(Pause{});
  script->gate = true;
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::paused; }));
  EXPECT_THAT(steps_of("it"), ElementsAre(0, 10));
  EXPECT_EQ(last_status.step, 10);
}

TEST_F(PinsTest, QuittingWhileRecordingIsPrompt) {
  hold_decoding_of("it", 10);  // the gate is never opened
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"it"}, Train{}});
  ASSERT_TRUE(wait_for_gate());
  session.reset();  // a session that does not stop hangs here
  EXPECT_EQ(script->times("destroyed"), 1u);
}

TEST_F(PinsTest, AnotherRunDoesNotWaitForRecording) {
  hold_decoding_of("it", 10);
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"it"}, Train{}});
  ASSERT_TRUE(wait_for_gate());
  session->post(OpenRun{"x"});
  EXPECT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  EXPECT_THAT(steps_of("it"), ElementsAre(0));
}

TEST_F(PinsTest, ResetDropsTheFramesKeepsTheSentencesAndBeginsAgain) {
  script->history_interval = 10;
  start_with_run();
  post_all({Pin{"a"}, Pin{"b"}});
  ASSERT_TRUE(train_to(20));
  seen.clear();
  session->post(Reset{});
  ASSERT_TRUE(wait_for([&] { return steps_of("b").size() == 1; }));
  ASSERT_EQ(all<RunOpened>().size(), 1u);
  const std::vector<PinnedSentence> pinned = all<RunOpened>()[0].pinned;
  ASSERT_EQ(pinned.size(), 2u);
  EXPECT_EQ(pinned[0].text, "a");
  EXPECT_THAT(pinned[0].frames, IsEmpty());
  EXPECT_THAT(steps_of("a"), ElementsAre(0));
  EXPECT_EQ(all<FrameRecorded>()[0].frame->run, 2u);
}

TEST_F(PinsTest, AnOpenedRunBringsItsHistoryAndGoesOnWithIt) {
  Snapshot early;
  early.source_text = "saved";
  script->opened_history = {{"saved", {frame_of(early)}}};
  script->history_interval = 10;
  start_with_run();
  session->post(Pin{"mine"});
  ASSERT_TRUE(wait_for([&] { return !steps_of("mine").empty(); }));
  session->post(OpenRun{"x"});
  ASSERT_TRUE(wait_for([&] { return !all<RunOpened>().empty(); }));
  ASSERT_EQ(all<RunOpened>()[0].pinned.size(), 1u);
  EXPECT_EQ(all<RunOpened>()[0].pinned[0].frames.size(), 1u);
  ASSERT_TRUE(train_to(20));
  EXPECT_THAT(steps_of("saved"), ElementsAre(10, 20));  // that of step 0 came with it
  EXPECT_THAT(steps_of("mine"), ElementsAre(0));
}

TEST_F(PinsTest, ALookThatFailsIsSaidOnceAndTrainingGoesOn) {
  script->history_interval = 10;
  script->on_decode = [](const Probe& probe, const YieldCallback&) {
    if (probe.text == "bad") throw std::runtime_error("no such piece");
  };
  start_with_run();
  session->post(Pin{"bad"});
  ASSERT_TRUE(train_to(50));
  EXPECT_TRUE(said("Could not record the pinned sentences: no such piece"));
  EXPECT_EQ(all<Message>().size(), 2u);  // and that the steps are done
  post_all({Unpin{"bad"}, Pin{"good"}});
  ASSERT_TRUE(train_to(60));
  EXPECT_THAT(steps_of("good"), ElementsAre(50, 60));
}

TEST_F(PinsTest, WeightsAreRecordedWithTheFramesAndOnlyThen) {
  script->history_interval = 10;
  script->steps_wanted = 20;
  start_with_run();
  post_all({Train{}});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::finished; }));
  EXPECT_EQ(script->times("weights of step 10"), 0U) << "nothing is pinned";
  post_all({Pin{"it"}, Pin{"other"}});
  ASSERT_TRUE(wait_for([&] { return steps_of("other").size() == 1; }));
  EXPECT_EQ(script->times("weights of step 20"), 2U) << "once for each pin";
}

TEST_F(PinsTest, ALookAtARecordedStepIsNotTakenAgainWhileTraining) {
  start_with_run();
  Probe probe{3, "typed"};
  probe.step = 0;
  session->post(probe);
  ASSERT_TRUE(wait_for_whole_snapshot(3));
  const int inspections = script->probes_begun;
  post_all({Step{}, Step{}, Step{}});
  ASSERT_TRUE(wait_for([&] { return last_status.step == 3; }));
  session->post(Probe{4, "typed"});
  ASSERT_TRUE(wait_for_whole_snapshot(4));
  EXPECT_EQ(script->probes_begun, inspections + 1);
}

}  // namespace
}  // namespace attnscope
