// Studies: long work between updates, while everything else goes on.
#include "fake_session.h"

namespace attnscope {
namespace {

using testing::Contains;

StartStudy numbered(std::uint64_t study) {
  return {study, HeldOutStudy{}};
}

class SessionStudies : public SessionTest {
 protected:
  void gate_studies() {
    script->on_study = [script = script.get()](const FractionCallback& progress) {
      script->wait_at_gate([&] { progress(0.25); });
    };
  }

  bool wait_for_end(std::uint64_t study) {
    return wait_for([&] {
      const auto ended = all<StudyEnded>();
      return std::ranges::any_of(ended, [&](const StudyEnded& end) { return end.study == study; });
    });
  }
};

TEST_F(SessionStudies, EndInOneResultOfTheStepTheyBeganAt) {
  start_with_run();
  session->post(Step{});
  session->post(numbered(7));
  ASSERT_TRUE(wait_for_end(7));
  const auto ended = all<StudyEnded>();
  ASSERT_EQ(ended.size(), 1U);
  ASSERT_TRUE(ended.front().result);
  EXPECT_EQ(ended.front().result->step, 1);
}

TEST_F(SessionStudies, TrainingLooksAndSavingGoOnDuringOne) {
  gate_studies();
  start_with_run();
  session->post(Train{});
  session->post(numbered(1));
  ASSERT_TRUE(wait_for_gate());
  const std::size_t before = script->times("step ends");
  session->post(Probe{.request = 5, .text = "typed meanwhile"});
  session->post(SaveRun{"/somewhere"});
  ASSERT_TRUE(wait_for_whole_snapshot(5));
  ASSERT_TRUE(
      wait_for([&] { return script->times("save /somewhere") == 1 && script->times("step ends") > before + 1; }));
  EXPECT_EQ(script->times("study ends"), 0U);
  const auto told = all<StudyProgress>();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.front().study, 1U);
  EXPECT_EQ(told.front().fraction, 0.25);
  script->gate = true;
  ASSERT_TRUE(wait_for_end(1));
  EXPECT_TRUE(all<StudyEnded>().front().result);
}

TEST_F(SessionStudies, AreTakenBackByCancelAndByANewerOne) {
  gate_studies();
  start_with_run();
  session->post(numbered(1));
  ASSERT_TRUE(wait_for_gate());
  session->post(numbered(2));
  ASSERT_TRUE(wait_for_end(1));
  session->post(CancelStudy{});
  ASSERT_TRUE(wait_for_end(2));
  for (const StudyEnded& ended : all<StudyEnded>()) EXPECT_FALSE(ended.result);
  EXPECT_EQ(script->times("study ends"), 0U);
  EXPECT_TRUE(all<Message>().empty()) << "nothing went wrong";
}

TEST_F(SessionStudies, AnotherRunEndsOne) {
  gate_studies();
  start_with_run();
  session->post(numbered(1));
  ASSERT_TRUE(wait_for_gate());
  session->post(Reset{with_seed(9)});
  ASSERT_TRUE(wait_for_end(1));
  EXPECT_FALSE(all<StudyEnded>().front().result);
  ASSERT_TRUE(wait_for([&] { return script->times("reset 9") == 1; }));
}

// The study owns the model that the best weights replace.
TEST_F(SessionStudies, GoToBestEndsOne) {
  gate_studies();
  script->on_keep = [] { return OpenRun{.path = "kept"}; };
  start_with_run();
  session->post(numbered(1));
  ASSERT_TRUE(wait_for_gate());
  session->post(GoToBest{});
  ASSERT_TRUE(wait_for_end(1));
  EXPECT_FALSE(all<StudyEnded>().front().result);
  ASSERT_TRUE(wait_for([&] { return script->times("open kept") == 1; }));
  EXPECT_EQ(script->times("study ends"), 0U);
}

// Commands that arrive during a study must not close its run.
TEST_F(SessionStudies, ARunThatIsOrderedInTheMidstOfAnUpdateWaitsForTheStudyToEnd) {
  script->on_study = [script = script.get()](const FractionCallback& progress) {
    while (true) {
      script->note("study goes on");
      progress(0.5);
    }
  };
  script->on_step = [this](std::int64_t, const YieldCallback& yield) {
    session->post(Reset{with_seed(9)});
    yield();
  };
  start_with_run();
  session->post(numbered(1));
  ASSERT_TRUE(wait_for([&] { return script->times("study goes on") > 0; }));
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return script->times("reset 9") == 1; }));
  ASSERT_TRUE(wait_for_end(1));
  const auto noted = script->noted();
  EXPECT_EQ(std::count(std::ranges::find(noted, "reset 9"), noted.end(), "study goes on"), 0);
}

TEST_F(SessionStudies, OneThatFailsSaysWhy) {
  script->on_study = [](const FractionCallback&) { throw std::runtime_error("no held-out part"); };
  start_with_run();
  session->post(numbered(1));
  ASSERT_TRUE(wait_for_end(1));
  EXPECT_FALSE(all<StudyEnded>().front().result);
  EXPECT_TRUE(said("Could not finish the analysis: no held-out part"));
}

}  // namespace
}  // namespace attnscope
