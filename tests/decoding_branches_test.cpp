// The tree of outputs that a sentence was steered to.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/decoding/branches.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A snapshot of a model that generated these ids, the first `given` of them forced, each with probability ½.
std::shared_ptr<Snapshot> output(const std::vector<int>& ids, std::size_t given, std::int64_t step = 100) {
  auto made = fixture_snapshot({4, static_cast<int>(ids.size()), 2, 4});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Token token{ids[i], "▁w" + std::to_string(ids[i])};
    made->target_out[i] = token;
    made->decoding[i].candidates[0] = {token, 1, 0.5F, 0.5F, 0.5F};
    made->decoding[i].chosen = 0;
  }
  for (std::size_t i = 1; i < ids.size(); ++i) made->target_in[i] = made->target_out[i - 1];
  made->forced = made->prefix = given;
  made->step = step;
  made->output_text = "text " + std::to_string(ids.back());
  return made;
}

class DecodingBranches : public testing::Test {
 protected:
  void note(const std::vector<int>& ids, std::size_t given, int typing = 0, std::int64_t step = 100) {
    note_branch(branches, {output(ids, given, step), ++version}, typing);
  }

  std::vector<int> ids_of(int branch) const {
    std::vector<int> ids;
    for (const Token& token : branches.all[static_cast<std::size_t>(branch)].tokens) ids.push_back(token.id);
    return ids;
  }

  Branches branches;
  std::uint64_t version = 0;
};

TEST_F(DecodingBranches, EverySteeredOutputIsABranchWithItsScore) {
  note({1, 2, 3, 4}, 0);
  note({1, 5, 6, 7, 8}, 2);
  ASSERT_THAT(branches.all, SizeIs(2));
  EXPECT_EQ(branches.current, 1);
  EXPECT_THAT(ids_of(1), ElementsAre(1, 5, 6, 7, 8));
  EXPECT_NEAR(branches.all[1].log_prob, 5 * std::log(0.5), 1e-6);
  EXPECT_EQ(branches.all[1].text, "text 8");
  EXPECT_EQ(branches.all[1].given, 2u);
}

TEST_F(DecodingBranches, SharedBeginningsAreShared) {
  note({1, 2, 3, 4}, 0);
  note({1, 5, 6}, 2);     // under the first, after 1
  note({9, 9}, 1);        // begins anew
  note({1, 2, 7}, 3);     // under the first, after 1 2
  note({1, 5, 6, 8}, 4);  // under the second
  using Row = BranchRow;
  EXPECT_THAT(branches.rows, ElementsAre(Row{0, -1, 0}, Row{3, 0, 2}, Row{1, 0, 1}, Row{4, 2, 3}, Row{2, -1, 0}));
}

TEST_F(DecodingBranches, RowsAreATreeWhateverIsSteered) {
  unsigned state = 7;
  for (int i = 0; i < 60; ++i) {
    std::vector<int> ids;
    for (int t = 0; t < 6; ++t) ids.push_back(static_cast<int>((state = state * 1664525 + 1013904223) >> 30U));
    note(ids, ids.size());
  }
  ASSERT_EQ(branches.rows.size(), branches.all.size());
  std::size_t nodes = 0;  // drawn
  for (std::size_t i = 0; i < branches.rows.size(); ++i) {
    const BranchRow& row = branches.rows[i];
    const auto ids = ids_of(row.branch);
    nodes += ids.size() - static_cast<std::size_t>(row.shared);
    EXPECT_LT(row.parent, static_cast<int>(i));
    if (row.parent < 0) continue;
    const BranchRow& above = branches.rows[static_cast<std::size_t>(row.parent)];
    const auto shared = ids_of(above.branch);
    EXPECT_TRUE(std::equal(ids.begin(), ids.begin() + row.shared, shared.begin()));
    EXPECT_GT(row.shared, above.shared);  // hangs from a piece that is drawn in that row
  }
  std::set<std::vector<int>> beginnings;
  for (int i = 0; i < static_cast<int>(branches.all.size()); ++i) {
    const auto ids = ids_of(i);
    for (std::size_t length = 1; length <= ids.size(); ++length) beginnings.insert({ids.begin(), ids.begin() + length});
  }
  EXPECT_EQ(nodes, beginnings.size());
}

TEST_F(DecodingBranches, TheShownBranchFollowsTheTrainingTheOthersSayWhenTheyWereSeen) {
  note({1, 2, 3}, 0, 0, 100);
  note({1, 5, 6}, 2, 0, 110);
  note({1, 5, 7}, 2, 0, 120);
  ASSERT_THAT(branches.all, SizeIs(2));
  EXPECT_THAT(ids_of(1), ElementsAre(1, 5, 7));
  EXPECT_EQ(branches.all[0].step, 100);
  EXPECT_EQ(branches.all[1].step, 120);
}

TEST_F(DecodingBranches, TheSameOutputIsOneBranchHoweverItWasSteered) {
  note({1, 2, 3}, 0);
  note({1, 2, 3}, 2);
  ASSERT_THAT(branches.all, SizeIs(1));
  EXPECT_EQ(branches.all[0].given, 0u);
}

TEST_F(DecodingBranches, ABeginningBeingTypedIsOneBranch) {
  note({1, 2, 3}, 0);
  note({4, 2, 3}, 1, 1);
  note({5, 2, 3}, 1, 1);
  note({5, 6, 3}, 2, 1);
  ASSERT_THAT(branches.all, SizeIs(2));
  EXPECT_THAT(ids_of(1), ElementsAre(5, 6, 3));
  note({7, 8, 9}, 1, 2);  // the field was entered again
  EXPECT_THAT(branches.all, SizeIs(3));
}

TEST_F(DecodingBranches, AnotherSentenceOrRunBeginsAnew) {
  note({1, 2, 3}, 0);
  note({1, 5, 6}, 2);
  auto other = output({1, 2}, 0);
  other->source_text = "another";
  note_branch(branches, {other, ++version}, 0);
  EXPECT_THAT(branches.all, SizeIs(1));
  note_branch(branches, {output({1, 5}, 2), ++version}, 0);
  auto reset = output({1, 2}, 0);
  reset->run = 2;
  note_branch(branches, {reset, ++version}, 0);
  EXPECT_THAT(branches.all, SizeIs(1));
}

TEST_F(DecodingBranches, RecordedFramesAreNoBranches) {
  note({1, 2, 3}, 0, 0, 100);
  auto frame = output({4, 5, 6}, 0, 20);
  frame->request = 0;
  note_branch(branches, {frame, ++version}, 0);
  EXPECT_THAT(ids_of(0), ElementsAre(1, 2, 3));
}

TEST_F(DecodingBranches, ThereIsAnEndToThem) {
  for (int i = 0; i < 200; ++i) note({i, 1}, static_cast<std::size_t>(i > 0));
  EXPECT_THAT(branches.all, SizeIs(most_branches));
  EXPECT_EQ(branches.rows.size(), most_branches);
  EXPECT_THAT(ids_of(0), ElementsAre(0, 1));  // the model's own output stays
  EXPECT_THAT(ids_of(branches.current), ElementsAre(199, 1));
}

TEST_F(DecodingBranches, ClearingLeavesTheShownOne) {
  clear_branches(branches);
  EXPECT_THAT(branches.all, IsEmpty());
  note({1, 2, 3}, 0);
  note({1, 5, 6}, 2);
  note({1, 2, 3}, 0);
  clear_branches(branches);
  ASSERT_THAT(branches.all, SizeIs(1));
  EXPECT_THAT(ids_of(branches.current), ElementsAre(1, 2, 3));
  ASSERT_THAT(branches.rows, SizeIs(1));
}

// ---- in the window

class DrawnBranches : public testing::Test {
 protected:
  DrawnBranches() {
    scope.layout.workspace = find_workspace("decoding");
    decoding.picture = StepPicture::branches;
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
    show(output({1, 2, 3}, 0));
  }

  void show(std::shared_ptr<Snapshot> snapshot) {
    snapshot->request = ++scope.asked.request;
    receive(scope, {}, std::move(snapshot));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  AppState scope;
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(DrawnBranches, SayHowToMakeOne) {
  EXPECT_TRUE(ui.drew("Click a candidate on the right"));
}

TEST_F(DrawnBranches, AClickReturnsToABranch) {
  show(output({1, 5, 66}, 2));
  show(output({1, 7, 88}, 2));
  EXPECT_TRUE(ui.drew("Branches (3)"));
  const auto second = ui.find_text("text 66");
  ASSERT_TRUE(second);
  EXPECT_FALSE(ui.find_text("text 66", 1));
  ui.move(*second, draw);
  EXPECT_TRUE(ui.find_text("text 66", 1)) << "whole, however narrow the picture is";
  EXPECT_TRUE(ui.drew("log p = -2.0794 over 3 tokens, 2 of them forced"));
  ui.click(*second, draw);
  EXPECT_THAT(decoding.prefix_ids, ElementsAre(1, 5));
  ASSERT_FALSE(scope.commands.empty());
  show(output({1, 5, 66}, 2));
  ASSERT_TRUE(ui.click_text("text 3", draw));
  EXPECT_THAT(decoding.prefix_ids, IsEmpty());
}

TEST_F(DrawnBranches, OldOnesSayWhenTheyWereSeen) {
  EXPECT_FALSE(ui.drew("now100"));
  show(output({1, 5, 66}, 2, 250));
  EXPECT_TRUE(ui.drew("now"));
  EXPECT_TRUE(ui.drew("100"));
}

TEST_F(DrawnBranches, AreCleared) {
  show(output({1, 5, 66}, 2));
  const auto button = ui.find_text("Clear", 1);  // after "Clear prefix"
  ASSERT_TRUE(button);
  ui.click(*button, draw);
  EXPECT_THAT(decoding.branches.all, SizeIs(1));
  EXPECT_TRUE(ui.drew("Click a candidate on the right"));
}

TEST_F(DrawnBranches, ManyLongOnesScroll) {
  for (int i = 0; i < 40; ++i) {
    std::vector<int> ids;
    for (int t = 0; t < 100; ++t) ids.push_back(t < i ? 7 : i + 10 * t);
    show(output(ids, static_cast<std::size_t>(i + 1)));
  }
  EXPECT_TRUE(ui.drew("Branches (41)"));
  ui.io().DisplaySize = {400, 300};
  ui.frames(3, draw);
  EXPECT_GT(ui.vertices(), 100);
}

}  // namespace
}  // namespace attnscope
