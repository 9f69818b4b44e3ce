// A study as the window shows it: begun in the menu, seen as it goes, given up, ended with its numbers.
#include <gmock/gmock.h>

#include <memory>
#include <variant>
#include <vector>

#include "posted.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

StudyResult scored(std::int64_t step) {
  Evaluation scores;
  scores.pairs = 1200;
  scores.exact = 900;
  scores.bleu = 87.65;
  scores.nll = {.nats = 250, .tokens = 1000};
  scores.pronoun_pairs = 40;
  scores.pronoun_right = 30;
  return {.run = 1, .step = step, .answer = scores};
}

class StudyTest : public testing::Test {
 protected:
  StudyTest() {
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, fixture_snapshot({}, 1));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  AppState scope;
  UiHarness ui;
  const UiHarness::Draw draw = [&] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(StudyTest, IsBegunInTheMenuAndSeenUntilItEnds) {
  ASSERT_TRUE(ui.click_text("Run", draw));
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Evaluate on held-out pairs", draw));
  ASSERT_EQ(posted<StartStudy>(scope).size(), 1U);
  const std::uint64_t study = posted<StartStudy>(scope).front().study;
  receive(scope, {StudyProgress{study, 0.42}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Translating the held-out pairs"));
  EXPECT_TRUE(ui.drew("42%"));
  receive(scope, {StudyEnded{study, std::make_shared<const StudyResult>(scored(1240))}}, nullptr);
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("Translating the held-out pairs"));
  EXPECT_TRUE(ui.drew("BLEU 87.7"));
  ui.frames(static_cast<int>(info_seconds * 1.1 / static_cast<double>(ui.io().DeltaTime)), draw);
  EXPECT_TRUE(ui.drew("BLEU 87.7")) << "what was waited for stays until it is dismissed";
  EXPECT_FALSE(animating(scope));
}

TEST_F(StudyTest, CancelGivesItUp) {
  start_study(scope, HeldOutStudy{});
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Cancel", draw));
  EXPECT_EQ(posted<CancelStudy>(scope).size(), 1U);
  EXPECT_TRUE(posted<Cancel>(scope).empty()) << "a decoding under way is another matter";
  const std::size_t messages = scope.toasts.size();
  receive(scope, {StudyEnded{posted<StartStudy>(scope).front().study, nullptr}}, nullptr);
  EXPECT_FALSE(scope.study);
  EXPECT_EQ(scope.toasts.size(), messages);
}

TEST_F(StudyTest, WhatAnOlderOneStillSaysIsNotTakenForTheNewOnes) {
  start_study(scope, HeldOutStudy{});
  start_study(scope, HeldOutStudy{});
  const auto asked = posted<StartStudy>(scope);
  ASSERT_EQ(asked.size(), 2U);
  receive(scope, {StudyProgress{asked[0].study, 0.9}, StudyEnded{asked[0].study, nullptr}}, nullptr);
  ASSERT_TRUE(scope.study);
  EXPECT_EQ(scope.study->fraction, 0);
}

TEST_F(StudyTest, TheResultSaysOfWhichStepItIs) {
  const std::string text = result_text(scored(1240));
  for (const char* part : {"Step 1\u00A0240", "1\u00A0200 held-out pairs", "75.0 % exact matches", "0.250 nats/token",
                           "il/elle correct in 75.0 % of 40"})
    EXPECT_THAT(text, HasSubstr(part));
  const StudyResult read{
      .run = 1, .step = 7, .answer = TextEvaluation{.nll = {.nats = 100, .tokens = 50}, .characters = 100}};
  EXPECT_THAT(result_text(read), HasSubstr("100 held-out characters: 2.000 nats/token, 1.443 bits/character"));
  EXPECT_THAT(result_text({.run = 1, .step = 7, .answer = Evaluation{}}), HasSubstr("No held-out pair fits"));
}

}  // namespace
}  // namespace attnscope
