// Interventions from the strip over the attention workspace: each control, each way back, and what came of it.
#include <gmock/gmock.h>

#include "inside_fixture.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/interventions.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

constexpr HeadPlace head{AttentionPart::encoder, 1, 2};

class InterventionsTest : public testing::Test {
 protected:
  InterventionsTest() {
    attention.begun = true;
    select(attention, head);
  }

  void show(const std::shared_ptr<const Snapshot>& snapshot) {
    receive(scope, {fixture_run(3), Status{Activity::paused, 3, "CPU"}}, snapshot);
    ui.frames(3, draw);
  }

  void open() { ASSERT_TRUE(ui.click_text("Intervene", draw)); }

  // The popup is drawn last; its headings begin with the same words as its buttons.
  void click_last(const char* text) {
    std::optional<ImVec2> last;
    for (int nth = 0; ui.find_text(text, nth); ++nth) last = ui.find_text(text, nth);
    ASSERT_TRUE(last) << text;
    ui.click(*last, draw);
  }

  // The ✕ behind a chip's text.
  void take_back(const std::string& chip) {
    ui.frame(draw);
    const auto at = ui.find_text(chip);
    ASSERT_TRUE(at) << chip;
    const float width = text_size(ui.skin.fonts.ui, chip).x;
    ui.click({at->x + width / 2 + 3 * 2 + 3, at->y}, draw);
  }

  Interventions& interventions() { return attention.interventions; }

  std::shared_ptr<Snapshot> untouched = fixture_snapshot({5, 6, 2, 4});
  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(InterventionsTest, WithoutAnyThereIsOneButton) {
  show(untouched);
  EXPECT_TRUE(ui.drew("Intervene"));
  EXPECT_FALSE(ui.drew("Back to the unmodified model"));
  EXPECT_FALSE(ui.drew("largest change"));
}

TEST_F(InterventionsTest, TheSelectedHeadIsSwitchedOffAndOn) {
  show(untouched);
  open();
  ASSERT_TRUE(ui.click_text("This head", draw));
  EXPECT_THAT(interventions().heads_off, testing::ElementsAre(head));
  EXPECT_EQ(scope.asked.interventions, interventions()) << "asked of the model at once";
  ASSERT_TRUE(ui.click_text("This head is off", draw));
  EXPECT_TRUE(interventions().empty());
}

TEST_F(InterventionsTest, TheSelectedLayerIsSwitchedOff) {
  show(untouched);
  open();
  ASSERT_TRUE(ui.click_text("This layer", draw));
  EXPECT_THAT(interventions().layers_off, testing::ElementsAre(LayerPlace{false, 1}));
  select(attention, {AttentionPart::cross, 0, 0});
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("This layer", draw));
  EXPECT_THAT(interventions().layers_off, testing::ElementsAre(LayerPlace{false, 1}, LayerPlace{true, 0}));
}

TEST_F(InterventionsTest, TheChosenQueryIsForcedToLookAtTheChosenKey) {
  show(untouched);
  attention.pinned_row = 3;
  attention.pinned_col = 1;
  open();
  const auto between = ui.find_text("attends only to");
  ASSERT_TRUE(between);
  ui.move({between->x - text_size(ui.skin.fonts.ui, "attends only to").x / 2 - 40, between->y}, draw);
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("The query: the token that attends."));
  click_last("Force");
  EXPECT_THAT(interventions().forced, testing::ElementsAre(ForcedAttention{head, 3, 1}));
}

TEST_F(InterventionsTest, InTheDecoderNoLaterKeyCanBeForced) {
  show(untouched);
  select(attention, {AttentionPart::decoder, 0, 0});
  attention.pinned_row = 1;
  attention.pinned_col = 4;
  open();
  ui.frames(2, draw);
  EXPECT_EQ(attention.intervention.key, 1);
}

TEST_F(InterventionsTest, AHeadThatIsOffIsMarkedInItsCaption) {
  show(untouched);
  EXPECT_FALSE(ui.drew("switched off"));
  auto off = std::make_shared<Snapshot>(*untouched);
  off->interventions.heads_off = {attention.place()};
  show(off);
  EXPECT_TRUE(ui.drew("switched off"));
}

TEST_F(InterventionsTest, ATokenIsReplacedByWhatIsTyped) {
  show(untouched);
  attention.pinned_row = 2;
  open();
  click_last("a word");
  ui.type("dog", draw);
  click_last("Replace");
  EXPECT_THAT(interventions().replaced, testing::ElementsAre(ReplacedToken{false, 2, -1, "dog"}));
  ASSERT_TRUE(ui.click_text("decoder input", draw));
  click_last("Replace");
  EXPECT_EQ(interventions().replaced.size(), 2U);
  EXPECT_TRUE(interventions().replaced[1].target);
}

TEST_F(InterventionsTest, NothingTypedReplacesNothing) {
  show(untouched);
  open();
  click_last("Replace");
  EXPECT_TRUE(interventions().empty());
}

TEST_F(InterventionsTest, AChipTakesBackExactlyItsChange) {
  interventions().heads_off = {head, {AttentionPart::cross, 0, 1}};
  interventions().layers_off = {{true, 1}};
  interventions().replaced = {{false, 1, -1, "dog"}};
  show(changed_snapshot(untouched, interventions()));
  take_back("cross L1 H2 ablated");
  EXPECT_THAT(interventions().heads_off, testing::ElementsAre(head));
  EXPECT_EQ(interventions().layers_off.size(), 1U);
  take_back("decoder L2 skipped");
  EXPECT_TRUE(interventions().layers_off.empty());
  EXPECT_EQ(interventions().heads_off.size(), 1U);
  EXPECT_EQ(interventions().replaced.size(), 1U);
}

TEST_F(InterventionsTest, AChipShowsItsHead) {
  interventions().heads_off = {{AttentionPart::cross, 0, 1}};
  show(changed_snapshot(untouched, interventions()));
  ASSERT_TRUE(ui.click_text("cross L1 H2 ablated", draw));
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::cross, 0, 1}));
  EXPECT_EQ(interventions().heads_off.size(), 1U);
}

TEST_F(InterventionsTest, ClearAllTakesEverythingBack) {
  interventions().heads_off = {head};
  interventions().forced = {{head, 1, 0}};
  show(changed_snapshot(untouched, interventions()));
  // "Back to the unmodified model", and "Unmodified model" where there is little room.
  ASSERT_TRUE(ui.click_text("nmodified model", draw));
  EXPECT_TRUE(interventions().empty());
  EXPECT_FALSE(ui.drew("nmodified model"));
}

TEST_F(InterventionsTest, WhatCameOfItIsShownBesideTheUntouchedOutput) {
  interventions().heads_off = {head};
  show(changed_snapshot(untouched, interventions()));
  EXPECT_TRUE(ui.drew("before"));
  EXPECT_TRUE(ui.drew("autre"));
  EXPECT_TRUE(ui.drew("original output"));
  EXPECT_TRUE(ui.drew("largest change"));
  ASSERT_TRUE(ui.click_text("Encoder, layer 1, head 2", draw));
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 0, 1}));
  EXPECT_EQ(attention.pinned_row, 2);
  EXPECT_EQ(attention.pinned_col, 0);
}

TEST_F(InterventionsTest, TheAnswerIsWaitedFor) {
  interventions().heads_off = {head};
  show(untouched);
  EXPECT_TRUE(ui.drew("computing"));
}

class RecurrentInterventions : public InterventionsTest, public testing::WithParamInterface<const char*> {};

TEST_P(RecurrentInterventions, OnlyTokensAreReplaced) {
  ModelConfig model;
  model.architecture = "recurrent";
  model.attention = GetParam();
  show(snapshot_of_model(model));
  open();
  ASSERT_TRUE(ui.click_text("This head", draw));
  ASSERT_TRUE(ui.click_text("This layer", draw));
  EXPECT_TRUE(interventions().empty());
  click_last("a word");
  ui.type("x", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(interventions().replaced.size(), 1U);
}

INSTANTIATE_TEST_SUITE_P(Attention, RecurrentInterventions, testing::Values("none", "bahdanau"));

TEST_F(InterventionsTest, ALanguageModelReadsOneText) {
  ModelConfig model;
  model.architecture = "decoder-only";
  show(snapshot_of_model(model));
  open();
  EXPECT_FALSE(ui.drew("decoder input"));
  click_last("a word");
  ui.type("x", draw);
  ui.key(Key::enter, draw);
  ASSERT_EQ(interventions().replaced.size(), 1U);
  EXPECT_TRUE(interventions().replaced[0].target);
}

TEST_F(InterventionsTest, ManyChangesAndLongSentencesAreDrawn) {
  for (const FixtureSize size : {FixtureSize{1, 1, 1, 1}, FixtureSize{128, 128, 6, 8}}) {
    for (int i = 0; i < size.source; ++i) interventions().forced.push_back({{AttentionPart::cross, 0, 0}, i, 0});
    interventions().replaced = {{true, 500, -1, "far away"}};
    auto snapshot = fixture_snapshot(size);
    if (size.source > 2) snapshot = changed_snapshot(snapshot, interventions());
    for (const ImVec2 window : {ImVec2(320, 240), ImVec2(1600, 1000)}) {
      ui.io().DisplaySize = window;
      show(snapshot);
      EXPECT_GT(ui.vertices(), 300);
    }
    interventions() = {};
  }
}

TEST(ChangesOf, ANewOneTakesThePlaceOfWhatItContradicts) {
  Interventions interventions;
  force(interventions, {head, 1, 2});
  force(interventions, {head, 1, 3});
  force(interventions, {head, 2, 3});
  EXPECT_THAT(interventions.forced, testing::ElementsAre(ForcedAttention{head, 1, 3}, ForcedAttention{head, 2, 3}));
  replace(interventions, {false, 1, -1, "a"});
  replace(interventions, {true, 1, -1, "b"});
  replace(interventions, {false, 1, -1, "c"});
  ASSERT_EQ(interventions.replaced.size(), 2U);
  EXPECT_EQ(interventions.replaced[1].text, "c");
}

}  // namespace
}  // namespace attnscope
