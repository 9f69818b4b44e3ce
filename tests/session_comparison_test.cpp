// Two runs in one session: who is trained when, what is said of which, and how a comparison ends.
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "fake_session.h"

namespace attnscope {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class ComparisonTest : public SessionTest {
 protected:
  void SetUp() override { script->other = other; }
  void TearDown() override {
    other->gate = true;
    SessionTest::TearDown();
  }

  template <typename Kind>
  std::vector<Kind> all_of_b() const {
    std::vector<Kind> found;
    for (const OfRunB& event : all<OfRunB>())
      if (const auto* kind = std::get_if<Kind>(&event.what)) found.push_back(*kind);
    return found;
  }

  void start_comparing() {
    start_with_run();
    session->post(Compare{with_seed(1)});
    ASSERT_TRUE(wait_for([&] { return all_of_b<RunOpened>().size() == 1; }));
  }

  std::shared_ptr<Script> other = std::make_shared<Script>();
};

TEST_F(ComparisonTest, OneStepIsAnUpdateOfBoth) {
  start_comparing();
  session->post(Step{});
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return all_of_b<MetricPoint>().size() == 2; }));
  EXPECT_EQ(all<MetricPoint>().size(), 2U);
  EXPECT_EQ(script->times("step ends"), 2U);
  EXPECT_EQ(other->times("step ends"), 2U);
}

TEST_F(ComparisonTest, TheOneBehindCatchesUpFirst) {
  start_with_run();
  for (int i = 0; i < 3; ++i) session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() == 3; }));
  session->post(Compare{with_seed(1)});
  for (int i = 0; i < 4; ++i) session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return all_of_b<MetricPoint>().size() == 4 && all<MetricPoint>().size() == 4; }));
  EXPECT_EQ(script->times("step ends"), 4U);
}

TEST_F(ComparisonTest, TrainingEndsWhenBothHaveAllTheirSteps) {
  script->steps_wanted = 5;
  start_comparing();
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return activity() == Activity::finished; }));
  EXPECT_EQ(script->times("step ends"), 5U);
  EXPECT_EQ(other->times("step ends"), 5U);
}

TEST_F(ComparisonTest, BothAreLookedAt) {
  start_comparing();
  session->post(Probe{.request = 7, .text = "a sentence"});
  ASSERT_TRUE(wait_for_whole_snapshot(7));
  ASSERT_TRUE(wait_for([&] { return snapshot_b && snapshot_b->output_text == "whole"; }));
  EXPECT_EQ(snapshot_b->request, 7U);
}

TEST_F(ComparisonTest, ASentenceIsPinnedInBoth) {
  start_comparing();
  session->post(Pin{"pinned"});
  ASSERT_TRUE(wait_for([&] { return all_of_b<FrameRecorded>().size() == 1; }));
  EXPECT_EQ(all<FrameRecorded>().size(), 1U);
}

TEST_F(ComparisonTest, WhatWasPinnedBeforeIsPinnedInTheOtherToo) {
  start_with_run();
  session->post(Pin{"pinned"});
  session->post(Compare{with_seed(1)});
  ASSERT_TRUE(wait_for([&] { return all_of_b<FrameRecorded>().size() == 1; }));
}

TEST_F(ComparisonTest, ItIsThereBeforeWhatWasPinnedIsRecorded) {
  other->on_decode = [this](const Probe&, const YieldCallback& yield) { other->wait_at_gate(yield); };
  start_with_run();
  session->post(Pin{"pinned"});
  session->post(Compare{with_seed(1)});
  ASSERT_TRUE(wait_for([&] { return other->at_gate.load(); }));
  poll();
  EXPECT_EQ(all_of_b<Status>().size(), 1U);
  EXPECT_EQ(activity(), Activity::idle);
}

TEST_F(ComparisonTest, ALiveFieldMovesBothButNotTheOneThatIsCompared) {
  start_with_run();
  session->post(Compare{with_rate(3)});
  session->post(Adjust{with_rate(2)});  // the rate is what is compared
  ASSERT_TRUE(wait_for([&] { return other->times("adjust 3") == 1; }));
  EXPECT_EQ(script->times("adjust 2"), 1U);
}

TEST_F(ComparisonTest, ResetBeginsBothAnew) {
  start_comparing();
  session->post(Step{});
  session->post(Reset{with_seed(4)});
  ASSERT_TRUE(wait_for([&] { return all_of_b<RunOpened>().size() == 2; }));
  EXPECT_EQ(script->times("reset 4"), 1U);
  EXPECT_EQ(other->times("reset 4"), 1U);
}

TEST_F(ComparisonTest, OpeningARunEndsIt) {
  start_comparing();
  session->post(OpenRun{"elsewhere"});
  ASSERT_TRUE(wait_for([&] { return all<ComparisonEnded>().size() == 1; }));
  EXPECT_EQ(other->times("destroyed"), 1U);
  EXPECT_EQ(snapshot_b, nullptr);
}

TEST_F(ComparisonTest, EitherSideStaysAlone) {
  start_comparing();
  session->post(Step{});
  session->post(EndComparison{.stays = RunSide::b});
  ASSERT_TRUE(wait_for([&] { return all<ComparisonEnded>().size() == 1; }));
  EXPECT_EQ(all<ComparisonEnded>().front().stays, RunSide::b);
  EXPECT_EQ(script->times("destroyed"), 1U);
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return other->times("step ends") == 2; }));
  EXPECT_EQ(script->times("step ends"), 1U);
}

TEST_F(ComparisonTest, TheOneThatGoesIsKeptFirst) {
  start_comparing();
  other->on_keep = []() -> std::optional<OpenRun> { throw std::runtime_error("the disk is full"); };
  session->post(EndComparison{});
  ASSERT_TRUE(wait_until_logged("the disk is full"));
  EXPECT_TRUE(all<ComparisonEnded>().empty());
  EXPECT_EQ(other->times("destroyed"), 0U);
}

TEST_F(ComparisonTest, ARunThatCannotBeMadeLeavesEverythingAsItWas) {
  other->on_prepare = [](const ProgressCallback&) { throw std::runtime_error("no such corpus"); };
  start_with_run();
  session->post(Compare{with_seed(1)});
  ASSERT_TRUE(wait_until_logged("Could not create the run to compare with: no such corpus"));
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return all<MetricPoint>().size() == 1; }));
  EXPECT_TRUE(all<OfRunB>().empty());
}

TEST_F(ComparisonTest, AnUpdateWithoutANumberPausesBothAndSaysWhose) {
  start_comparing();
  other->on_step = [](std::int64_t step, const YieldCallback&) {
    if (step == 2) throw NotFinite("the loss");
  };
  session->post(Train{});
  ASSERT_TRUE(wait_for([&] { return all<Diverged>().size() == 1 && activity() == Activity::paused; }));
  EXPECT_EQ(all<Diverged>().front().side, RunSide::b);
  EXPECT_EQ(all<Diverged>().front().step, 2);
}

TEST_F(ComparisonTest, AStudyIsOfTheOneThatWasMeant) {
  start_comparing();
  session->post(StartStudy{.study = 1, .question = HeldOutStudy{}, .side = RunSide::b});
  ASSERT_TRUE(wait_for([&] { return all<StudyEnded>().size() == 1; }));
  EXPECT_EQ(other->times("study ends"), 1U);
  EXPECT_EQ(script->times("study ends"), 0U);
}

TEST_F(ComparisonTest, AStudyOfTheOneThatGoesIsGivenUp) {
  start_comparing();
  other->on_study = [&](const FractionCallback& progress) { other->wait_at_gate([&] { progress(0.5); }); };
  session->post(StartStudy{.study = 1, .question = HeldOutStudy{}, .side = RunSide::b});
  ASSERT_TRUE(wait_for([&] { return other->at_gate.load(); }));
  session->post(EndComparison{});
  ASSERT_TRUE(wait_for([&] { return all<ComparisonEnded>().size() == 1; }));
  EXPECT_EQ(all<StudyEnded>().front().result, nullptr);
}

TEST_F(ComparisonTest, BothAreSavedWhenTheSessionEnds) {
  start_comparing();
  session->post(Step{});
  ASSERT_TRUE(wait_for([&] { return all_of_b<MetricPoint>().size() == 1 && activity() == Activity::paused; }));
  session->end();
  EXPECT_EQ(script->times("checkpoint 1"), 1U);
  EXPECT_EQ(other->times("checkpoint 1"), 1U);
}

// ---- a saved comparison

class SavedComparisonTest : public ComparisonTest {
 protected:
  void SetUp() override {
    ComparisonTest::SetUp();
    std::filesystem::remove_all(folder);
  }
  void TearDown() override {
    ComparisonTest::TearDown();
    std::filesystem::remove_all(folder);
  }

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void make_run(const std::string& name) const {
    write(name + "/config.json", "{}");
    write(name + "/model.safetensors", "");
  }

  const std::string folder = testing::TempDir() + "saved_comparison";
};

TEST_F(SavedComparisonTest, SavingSavesBothAndTheFileThatJoinsThem) {
  std::filesystem::create_directories(folder);
  start_comparing();
  session->post(SaveRun{folder});
  ASSERT_TRUE(wait_until_logged("Saved to"));
  EXPECT_EQ(script->times("save " + folder + "/a"), 1U);
  EXPECT_EQ(other->times("save " + folder + "/b"), 1U);
  EXPECT_TRUE(std::filesystem::exists(folder + "/comparison.json"));
}

TEST_F(SavedComparisonTest, OpeningItOpensBoth) {
  make_run("a");
  make_run("b");
  write("comparison.json", R"({"version":1,"a":"a","b":"b"})");
  start_with_run();
  session->post(OpenRun{folder});
  ASSERT_TRUE(wait_for([&] { return all_of_b<RunOpened>().size() == 1; }));
  EXPECT_EQ(script->times("open " + folder + "/a"), 1U);
  EXPECT_EQ(other->times("open " + folder + "/b"), 1U);
  EXPECT_EQ(all<CorpusRead>().size(), 1U) << "the one that both share, before the other is opened";
  EXPECT_FALSE(all_of_b<RunOpened>()[0].corpus_follows);
  EXPECT_EQ(all_of_b<RunOpened>()[0].examples.size(), 1U);
  EXPECT_EQ(all_of_b<RunOpened>()[0].saved_to, folder);
}

TEST_F(SavedComparisonTest, OfRunsElsewhereIsNotSavedOverThem) {
  make_run("mine");
  make_run("b");
  write("comparison.json", R"({"version":1,"a":"mine","b":"b"})");
  start_with_run();
  session->post(OpenRun{folder});
  ASSERT_TRUE(wait_for([&] { return all_of_b<RunOpened>().size() == 1; }));
  EXPECT_EQ(all_of_b<RunOpened>()[0].saved_to, "");
}

TEST_F(SavedComparisonTest, ARunThatIsGoneLeavesTheOtherAlone) {
  make_run("b");
  write("comparison.json", R"({"version":1,"a":"a","b":"b"})");
  start_with_run();
  session->post(OpenRun{folder});
  ASSERT_TRUE(wait_until_logged("saved_comparison/a is missing. Only the other one was opened"));
  EXPECT_EQ(script->times("open " + folder + "/b"), 1U);
  EXPECT_TRUE(all_of_b<RunOpened>().empty());
}

TEST_F(SavedComparisonTest, AFileThatIsNoneSaysSo) {
  make_run("a");
  write("comparison.json", "[");
  start_with_run();
  session->post(OpenRun{folder});
  ASSERT_TRUE(wait_until_logged("Could not open the comparison: "));
}

}  // namespace
}  // namespace attnscope
