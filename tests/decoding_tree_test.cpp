// The tree of a beam search: where its nodes stand, and what mouse and buttons do with it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.h"
#include "decoding_panel.h"
#include "workspaces/decoding/tree_canvas.h"

namespace attnscope {
namespace {

BeamNode node(int parent, int step, int id, double score, HypothesisState state) {
  return {parent, step, {id, std::to_string(id)}, -1, score, score, state};
}

TEST(LengthPenalty, IsGnmts) {
  EXPECT_DOUBLE_EQ(length_penalty(1, 0.6), 1);
  EXPECT_NEAR(length_penalty(19, 0.6), std::pow(4.0, 0.6), 1e-12);
  EXPECT_DOUBLE_EQ(length_penalty(30, 0), 1);
}

TEST(ScoreText, SaysTheSumAsItIsDone) {
  EXPECT_EQ(number_text(-0.5375), "−0.537");
  EXPECT_EQ(number_text(2, 1), "2.0");
  EXPECT_EQ(number_text(-0.0004), "0.000");
  EXPECT_EQ(number_text(-std::numeric_limits<double>::infinity()), "−∞");
  EXPECT_EQ(score_arithmetic(-8, 19, 0.5),
            "length penalty ((5 + 19) / 6)^0.5 = 2.000\nscore = −8.000 ÷ 2.000 = −4.000");
}

TEST(BestEnd, IsTheBestFinishedElseTheBestAtTheEnd) {
  std::vector<BeamNode> tree = {node(-1, 0, 5, -1, HypothesisState::kept), node(-1, 0, 3, -2, HypothesisState::pruned),
                                node(0, 1, 6, -3, HypothesisState::kept), node(0, 1, 7, -2.5, HypothesisState::kept)};
  EXPECT_EQ(best_end(tree), 3);  // though the first step's score is better
  tree[2].state = HypothesisState::finished;
  EXPECT_EQ(best_end(tree), 2);
  EXPECT_EQ(best_end({}), -1);
}

TEST(Path, LeadsToItsNode) {
  const auto tree = fixture_decodings({6, 4, 0}, {})->tree;
  for (int i = 0; i < static_cast<int>(tree.size()); ++i) {
    const std::vector<int> nodes = path_nodes(tree, path_ids(tree, i));
    ASSERT_EQ(nodes.size(), static_cast<std::size_t>(tree[static_cast<std::size_t>(i)].step) + 1);
    // Twins that end alike are one path.
    EXPECT_EQ(tree[static_cast<std::size_t>(nodes.back())].token, tree[static_cast<std::size_t>(i)].token);
  }
  const std::vector<int> strange = {path_ids(tree, 0)[0], 77};
  EXPECT_EQ(path_nodes(tree, strange), std::vector<int>{0});
}

TEST(Differing, IsAllButTheLongestCommonSubsequence) {
  const auto tokens = [](std::initializer_list<int> ids) {
    std::vector<Token> made;
    for (const int id : ids) made.push_back({id, ""});
    return made;
  };
  EXPECT_EQ(differing(tokens({1, 2, 3}), tokens({1, 2, 3})), std::vector<int>{});
  EXPECT_EQ(differing(tokens({1, 9, 2, 3}), tokens({1, 2, 3})), std::vector<int>{1});
  EXPECT_EQ(differing(tokens({2, 3}), tokens({1, 2, 9, 3})), std::vector<int>{});
  EXPECT_EQ(differing(tokens({1, 8, 3, 7}), tokens({1, 2, 3})), (std::vector<int>{1, 3}));
  EXPECT_EQ(differing(tokens({5, 6}), tokens({})), (std::vector<int>{0, 1}));
}

void expect_orderly(const std::vector<BeamNode>& tree, bool with_pruned) {
  const TreeLayout layout = tree_layout(tree, with_pruned);
  ASSERT_EQ(layout.rows.size(), tree.size());
  for (const auto& column : layout.columns) {
    for (std::size_t i = 1; i < column.size(); ++i) {
      const auto upper = static_cast<std::size_t>(column[i - 1]);
      const auto lower = static_cast<std::size_t>(column[i]);
      EXPECT_GE(layout.rows[lower], layout.rows[upper] + 1) << "nodes lie on one another";
      if (tree[upper].parent < 0) continue;
      EXPECT_LE(layout.rows[static_cast<std::size_t>(tree[upper].parent)],
                layout.rows[static_cast<std::size_t>(tree[lower].parent)])
          << "edges cross";
    }
    for (const int shown : column) {
      EXPECT_TRUE(with_pruned || tree[static_cast<std::size_t>(shown)].state != HypothesisState::pruned);
      EXPECT_GE(layout.rows[static_cast<std::size_t>(shown)], layout.top);
      EXPECT_LE(layout.rows[static_cast<std::size_t>(shown)], layout.bottom);
    }
  }
  for (int best = best_end(tree); best >= 0; best = tree[static_cast<std::size_t>(best)].parent)
    EXPECT_EQ(layout.rows[static_cast<std::size_t>(best)], 0);
}

TEST(TreeLayout, HasNoCrossingsAndTheBestInAStraightLine) {
  for (const DecodingsSize size : {DecodingsSize{5, 3, 0}, {50, 16, 0}, {1, 1, 0}, {48, 4, 0, false}}) {
    const auto tree = fixture_decodings(size, {})->tree;
    expect_orderly(tree, true);
    expect_orderly(tree, false);
    const TreeLayout layout = tree_layout(tree, true);
    EXPECT_LE(layout.bottom - layout.top, 4.0F * static_cast<float>(size.beam));
  }
  EXPECT_TRUE(tree_layout({}, true).columns.empty());
}

// ---- in the window

class BeamTree : public DecodingPanel {
 protected:
  BeamTree() : DecodingPanel(DecodingMode::tree) {}
};

TEST_F(BeamTree, SaysThatItIsComingAndThenKeepsTheTreeWhileTheNextIs) {
  show(fixture_snapshot({4, 5, 2, 2}));
  EXPECT_FALSE(ui.drew("zq2"));
  show({5, 3, 2});
  EXPECT_TRUE(ui.drew("zq2"));
  show(fixture_snapshot({4, 5, 2, 2}));  // the next look, whose decodings are on their way
  EXPECT_TRUE(ui.drew("zq2"));
  auto other = fixture_snapshot({4, 5, 2, 2});
  other->source_text = "something else";
  show(other);
  EXPECT_FALSE(ui.drew("zq2"));
}

TEST_F(BeamTree, AClickLooksAtThatHypothesis) {
  show({5, 3, 2});
  click("x1_0_1");
  const std::vector<int>& wanted = decoding.hypothesis;
  ASSERT_EQ(wanted.size(), 2U);
  EXPECT_EQ(wanted, (std::vector<int>{1000, 1101}));
  EXPECT_EQ(scope.asked.hypothesis, wanted);
  click("Best");
  EXPECT_TRUE(decoding.hypothesis.empty());
}

TEST_F(BeamTree, PointingAtANodeTellsItsArithmetic) {
  show({5, 3, 2});
  const auto at = ui.find_text("x1_0_1");
  ASSERT_TRUE(at);
  ui.move(*at, draw);
  ui.frames(2, draw);
  const auto found =
      std::ranges::find(decodings().tree, "x1_0_1", [](const BeamNode& each) { return each.token.text; });
  ASSERT_NE(found, decodings().tree.end());
  EXPECT_TRUE(ui.drew("0.100 + log " + std::to_string(std::exp(found->log_prob)).substr(0, 5)));
  EXPECT_TRUE(ui.drew(number_text(-found->total)));
  EXPECT_TRUE(ui.drew(score_arithmetic(found->total, 2, 0.6).substr(0, 30)));
  EXPECT_TRUE(ui.drew("pruned: the beam was full") || ui.drew("retained: among the best"));
}

TEST_F(BeamTree, TheScoresNameTheBest) {
  show({5, 3, 2});
  ASSERT_GT(decoding.tree.scores.size(), 2U);
  const auto title = ui.find_text("Score by decoding step");
  const auto best = ui.find_text("best", 1);  // the first one is in the tree's key
  ASSERT_TRUE(title && best);
  EXPECT_GT(best->y, title->y - 4);
  EXPECT_LT(best->y, title->y + 60) << "beside the title or in the rows beneath it";
}

TEST_F(BeamTree, PrunedNodesCanBeHidden) {
  show({5, 3, 2});
  const auto pruned = std::ranges::find_if(
      decodings().tree, [](const BeamNode& each) { return each.state == HypothesisState::pruned && each.step == 1; });
  ASSERT_NE(pruned, decodings().tree.end());
  const std::string token = pruned->token.text;
  EXPECT_TRUE(ui.drew(token));
  click("Show pruned");
  EXPECT_FALSE(decoding.tree.with_pruned);
  EXPECT_FALSE(ui.drew(token));
  EXPECT_TRUE(ui.drew("zq1"));
}

TEST_F(BeamTree, SteeringMakesTheOutputBeginWithWhatIsLookedAt) {
  show({5, 3, 2});
  decoding.prefix = "typed";
  ui.frames(2, draw);
  click("Force this prefix");
  EXPECT_EQ(decoding.prefix_ids, decodings().hypothesis.ids);
  EXPECT_TRUE(decoding.prefix.empty());
  EXPECT_EQ(decoding.mode, DecodingMode::tree);
}

TEST_F(BeamTree, TheWheelZoomsAtTheCursorADragPansADoubleClickFits) {
  show({40, 4, 0});
  const auto before = ui.find_text("zq3");
  const auto second = ui.find_text("zq4");
  ASSERT_TRUE(before && second);
  const float pitch = second->x - before->x;
  ui.wheel(*before, 2, draw);
  ui.frames(3, draw);
  const auto after = ui.find_text("zq3");
  ASSERT_TRUE(after && ui.find_text("zq4"));
  EXPECT_GT(ui.find_text("zq4")->x - after->x, pitch * 1.2F);
  EXPECT_NEAR(after->x, before->x, pitch * 0.35F) << "what is under the mouse stays there";
  ui.drag(*after, ImVec2(after->x - 150, after->y), draw);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.find_text("zq4"));
  EXPECT_LT(ui.find_text("zq4")->x, after->x);
  EXPECT_TRUE(decoding.hypothesis.empty()) << "a drag is no click";
  EXPECT_FALSE(ui.drew("zq39"));
  ui.double_click(*after, draw);
  ui.frames(2, draw);
  EXPECT_EQ(decoding.tree.zoom, TreeZoom::whole);
  ui.double_click(*after, draw);
  EXPECT_EQ(decoding.tree.zoom, TreeZoom::readable);
}

TEST_F(BeamTree, OnlyWhatIsInSightIsDrawn) {
  show({8, 16, 0});
  const int few = ui.vertices();
  show({120, 16, 0});
  EXPECT_LT(ui.vertices(), few * 2);
  decoding.tree.zoom = TreeZoom::whole;
  ui.frames(2, draw);
  EXPECT_GT(ui.vertices(), 1000);
}

TEST_F(BeamTree, TakesTreesOfEverySizeInWindowsOfEverySize) {
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(1280, 720), ImVec2(2560, 1440)}) {
    ui.io().DisplaySize = size;
    for (const DecodingsSize tree : {DecodingsSize{1, 1, 0}, {2, 16, 16}, {60, 16, 0, false}}) {
      for (const TreeZoom zoom : {TreeZoom::readable, TreeZoom::whole}) {
        decoding.tree.zoom = zoom;
        show(tree);
        EXPECT_GT(ui.vertices(), 100);
      }
    }
  }
  auto empty = fixture_snapshot({4, 5, 2, 2});
  empty->decodings = std::make_shared<Decodings>();
  show(empty);
  EXPECT_TRUE(ui.drew("0 considered"));
}

TEST_F(BeamTree, LayerAndHeadOfTheMapCanBeChosen) {
  show({5, 3, 2});
  click("layer 2");
  click("layer 1");
  EXPECT_EQ(decoding.layer, 0);
  click("mean of heads");
  click("head 2");
  EXPECT_EQ(decoding.head, 1);
}

}  // namespace
}  // namespace attnscope
