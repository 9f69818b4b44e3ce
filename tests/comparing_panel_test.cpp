// Two runs in the window: what the workspaces show of them, how a comparison begins and how it ends.
#include <gmock/gmock.h>

#include <memory>
#include <variant>
#include <vector>

#include "analysis/model_comparison.h"
#include "config/pairs.h"
#include "posted.h"
#include "shell/actions.h"
#include "shell/comparing.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"

namespace attnscope {
namespace {

class ComparingTest : public testing::Test {
 protected:
  ComparingTest() {
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, animal_snapshot(1));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  // B: as the fixture's run, told the order otherwise.
  RunOpened other_run(std::string_view positions = "alibi") const {
    RunOpened other = fixture_run(20);
    other.run = 2;
    set_field(other.config, "model.positions", positions);
    return other;
  }
  std::shared_ptr<Snapshot> snapshot_b() const {
    auto inspection = animal_snapshot(scope.asked.request);
    inspection->run = 2;
    return inspection;
  }
  void begin_comparing(RunOpened other) {
    receive(scope, {OfRunB{std::move(other)}}, nullptr, snapshot_b());
    ui.frames(3, draw);
  }
  void show_workspace_named(std::string_view name) {
    scope.layout.workspace = find_workspace(name);
    ui.frames(3, draw);
  }

  AppState scope;
  UiHarness ui;
  const UiHarness::Draw draw = [&] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(ComparingTest, NothingIsSeenOfItWhileNothingIsCompared) {
  EXPECT_FALSE(ui.drew("Keep A"));
  EXPECT_FALSE(applies(find_action("next-side"), scope));
}

TEST_F(ComparingTest, BothStandSideBySideUnderTheNamesOfWhatTheyDifferIn) {
  begin_comparing(other_run());
  EXPECT_TRUE(ui.drew("Keep A"));
  EXPECT_TRUE(ui.drew("shaw"));
  EXPECT_TRUE(ui.drew("alibi"));
  EXPECT_TRUE(ui.drew("All heads, A"));
  EXPECT_TRUE(ui.drew("distance 0.000"));
}

TEST_F(ComparingTest, TheSelectedHeadIsFramedAmongAll) {
  begin_comparing(other_run());
  const auto framed = [&](const char* head) {
    const ImVec2 name = ui.find_text(head).value_or(ImVec2());  // below its picture
    for (float y = name.y - 20; y < name.y; ++y)
      if (ui.filled({name.x, y}, ui.skin.theme.accent)) return true;
    return false;
  };
  const auto name = ui.find_text("encoder L1 H2");
  ASSERT_TRUE(name) << ui.drawn_text();
  ui.click({name->x, name->y - 30}, draw);
  ui.move({2, 2}, draw);
  EXPECT_TRUE(framed("encoder L1 H2"));
  EXPECT_FALSE(framed("encoder L1 H1"));
}

TEST_F(ComparingTest, OneThatWasSavedIsOpenedAgainAsAWhole) {
  scope.layout.recent_runs = {scope.a.run.folder, "/runs/another"};
  RunOpened other = other_run();
  other.saved_to = "/runs/pair";
  begin_comparing(std::move(other));
  EXPECT_EQ(scope.saved_to, "/runs/pair");
  EXPECT_EQ(scope.layout.recent_runs, (std::vector<std::string>{"/runs/pair", "/runs/another"}));
  EXPECT_EQ(scope.layout.last_run, "/runs/pair");
  receive(scope, {RunAutosaved{"/runs/pair/a"}}, nullptr);
  EXPECT_EQ(scope.layout.last_run, "/runs/pair");
  receive(scope, {ComparisonEnded{}, RunAutosaved{"/runs/pair/a"}}, nullptr);
  EXPECT_EQ(scope.layout.last_run, "/runs/pair/a");
}

TEST_F(ComparingTest, ItBeginsWhereBothCanBeSeen) {
  show_workspace_named("glance");
  begin_comparing(other_run());
  EXPECT_EQ(scope.layout.workspace->name, "attention");
  EXPECT_EQ(scope.comparing.side, DisplayedSide::difference);
}

TEST_F(ComparingTest, EveryWorkspaceShowsASideOrSaysWhyNot) {
  begin_comparing(other_run());
  for (const Workspace& workspace : workspaces()) {
    show_workspace_named(workspace.name);
    EXPECT_EQ(ui.drew("In this workspace, choose A or B above"), find_difference_view(workspace.name) == nullptr)
        << workspace.name;
  }
  show_side(scope, DisplayedSide::b);
  EXPECT_EQ(shown_maps(scope).newest.snapshot->run, 2U);
  EXPECT_EQ(shown_run(scope).run.run, 2U);
  show_side(scope, DisplayedSide::a);
  EXPECT_EQ(shown_run(scope).run.run, 1U);
}

TEST_F(ComparingTest, WhereTheOutputsPartIsSaid) {
  begin_comparing(other_run());
  auto inspection = snapshot_b();
  Candidate elle{.token = {.id = 99, .text = "▁elle"}, .probability = 0.75F};
  inspection->decoding[2].candidates.insert(inspection->decoding[2].candidates.begin(), elle);
  inspection->decoding[2].chosen = 0;
  inspection->target_out[2] = elle.token;
  inspection->output_text += " elle";
  receive(scope, {}, nullptr, inspection);
  show_workspace_named("decoding");
  EXPECT_TRUE(ui.drew("First divergence at token 3"));
  EXPECT_TRUE(ui.drew("B generates elle (p = 0.750, not among the candidates of A)"));
  // Above the columns of the table, one beside the other.
  bool side_by_side = false;
  for (int a = 0; const auto of_a = ui.find_text("A shaw", a); ++a)
    for (int b = 0; const auto of_b = ui.find_text("B alibi", b); ++b)
      side_by_side |= of_a->y == of_b->y && of_a->y > ui.find_text("First divergence")->y;
  EXPECT_TRUE(side_by_side);
}

TEST_F(ComparingTest, TablesOfPositionsOfOneKindAreSubtracted) {
  begin_comparing(other_run());
  show_workspace_named("positions");
  EXPECT_TRUE(ui.drew("Mean distance between a query and what it attends to"));
}

TEST_F(ComparingTest, CurvesOfBothAndTheirDifferenceAreDrawnAndCopied) {
  begin_comparing(other_run());
  EXPECT_TRUE(ui.drew("Loss, A"));
  EXPECT_THAT(curves_csv(scope.a.curves, {}, &scope.b->curves), testing::HasSubstr("train_loss,train_loss_b"));
}

TEST_F(ComparingTest, TheNumbersTakenAwayAreTheDifference) {
  begin_comparing(other_run());
  ASSERT_TRUE(has_numbers(scope));
  EXPECT_THAT(numbers_name(scope), testing::HasSubstr("A-minus-B"));
}

TEST_F(ComparingTest, OneThatIsBehindIsSaidToCatchUp) {
  begin_comparing(other_run());
  receive(scope, {OfRunB{Status{Activity::paused, 5, "CPU"}}}, nullptr);
  EXPECT_EQ(comparison_note(scope), "B is 15 steps behind; Train will bring it level first.");
}

TEST_F(ComparingTest, WhatIsNotTrainedOnTheSameIsSaid) {
  RunOpened other = other_run();
  other.config.training.batch_size = 7;
  begin_comparing(other);
  EXPECT_THAT(comparison_note(scope), testing::HasSubstr("same batches"));
}

TEST_F(ComparingTest, AClassicPairBeginsBothAnewAndTrains) {
  find_action("compare").act(scope);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("Sinusoids and no positions", draw));
  ASSERT_EQ(posted<Compare>(scope).size(), 1U);
  const Compare wanted = posted<Compare>(scope).front();
  EXPECT_EQ(wanted.anew->model.positions, "sinusoidal");
  EXPECT_EQ(std::get<Config>(wanted.with).model.positions, "none");
  EXPECT_EQ(posted<Train>(scope).size(), 1U);
  EXPECT_EQ(scope.layout.sentence, classic_pair("positions").sentence) << "one of its corpus";
}

TEST_F(ComparingTest, ASideThatIsNotYetLookedAtIsNotSaidToHaveNoAttention) {
  Snapshot bare;
  bare.model.architecture = "recurrent";
  EXPECT_EQ(why_no_map(bare, "B", {AttentionPart::cross, 0, 0}), "B has not been evaluated yet.");
  bare.model.attention = "none";
  EXPECT_EQ(why_no_map(bare, "B", {AttentionPart::cross, 0, 0}), "B has no attention.");
}

TEST_F(ComparingTest, EveryFieldCanBeGivenAnotherValue) {
  scope.layout.setup_open = false;  // which has them all, too
  find_action("compare").act(scope);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Lowercase"));
  scope.comparing.filter = "norm";
  scope.comparing.b.model.norm = "pre";
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Layer norm: post"));
  EXPECT_FALSE(ui.drew("Lowercase"));

  // The row of the field that differs is the first: its value in B opens a list.
  const auto click_last = [&](const char* text) {
    int count = 0;
    while (ui.find_text(text, count)) ++count;
    ASSERT_GT(count, 0) << text;
    ui.click(*ui.find_text(text, count - 1), draw);
    ui.frames(2, draw);
  };
  scope.comparing.filter = "no field";
  ui.frames(2, draw);
  click_last("pre");
  click_last("post");
  EXPECT_EQ(scope.comparing.b.model.norm, "post");
}

TEST_F(ComparingTest, ASavedRunIsChosenInTheBrowser) {
  find_action("compare").act(scope);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("A saved run", draw));
  EXPECT_EQ(scope.purpose, Purpose::compare_run);
  compare_with_run(scope, "/runs/other");
  EXPECT_EQ(std::get<std::string>(posted<Compare>(scope).front().with), "/runs/other");
}

TEST_F(ComparingTest, EitherSideStaysAlone) {
  begin_comparing(other_run());
  ASSERT_TRUE(ui.click_text("Keep B", draw));
  ASSERT_EQ(posted<EndComparison>(scope).size(), 1U);
  EXPECT_EQ(posted<EndComparison>(scope).front().stays, RunSide::b);
  receive(scope, {ComparisonEnded{.stays = RunSide::b}}, nullptr);
  ui.frames(3, draw);
  EXPECT_EQ(scope.a.run.run, 2U);
  EXPECT_EQ(scope.a.run.config.model.positions, "alibi");
  EXPECT_EQ(shown_maps(scope).newest.snapshot->run, 2U);
  EXPECT_FALSE(ui.drew("Keep A"));
}

TEST_F(ComparingTest, AnotherSentenceWithOtherPiecesSaysWhyThereIsNoDifference) {
  begin_comparing(other_run());
  auto inspection = snapshot_b();
  inspection->source.pop_back();
  for (std::vector<Matrix>& layer : inspection->encoder)
    for (Matrix& map : layer) map = Matrix(map.rows - 1, map.cols - 1);
  receive(scope, {}, nullptr, inspection);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("The two tokenizers split the sentence differently"));
}

TEST_F(ComparingTest, OnAProjectorBothAreThere) {
  begin_comparing(other_run());
  scope.presentation = ui.skin.presentation = true;
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("shaw"));
  EXPECT_TRUE(ui.drew("alibi"));
  EXPECT_FALSE(ui.drew("Keep A"));
}

}  // namespace
}  // namespace attnscope
