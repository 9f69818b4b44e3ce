// Differences from the unmodified model: shown in every workspace, undone one by one or all at once.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "shell/overrides.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr HeadPlace head{AttentionPart::encoder, 1, 2};

class OverridesTest : public testing::Test {
 protected:
  OverridesTest() {
    scope.layout.sentence = "src1 src2";
    scope.layout.setup_open = false;
    receive(scope, {fixture_run(20), Status{Activity::paused, 1000, "CPU"}}, nullptr);
    receive(scope, {}, fixture_snapshot({3, 4, 2, 4}, scope.asked.request));
    receive(scope, {SentencePinned{"src1 src2"}}, nullptr);
    auto past = fixture_snapshot({3, 4, 2, 4});
    past->step = 400;
    receive(scope, {FrameRecorded{frame_of(*past)}}, nullptr);
    ui.frames(3, draw);
  }

  void depart(OverrideKind kind) {
    Interventions& interventions = attention.interventions;
    switch (kind) {
      case OverrideKind::head_off:
        return interventions.heads_off.push_back(head);
      case OverrideKind::layer_off:
        return interventions.layers_off.push_back({true, 0});
      case OverrideKind::forced_attention:
        return interventions.forced.push_back({head, 1, 0});
      case OverrideKind::replaced_token:
        return interventions.replaced.push_back({.position = 1, .text = "dog"});
      case OverrideKind::prefix:
        decoding.prefix = "zq";
        return;
      case OverrideKind::hidden_keys:
        return interventions.hidden.push_back({head, {{1, 2}}});
      case OverrideKind::steered:
        return interventions.steered.push_back({.place = {false, 1}, .plus = "king", .minus = "man", .factor = 4});
      case OverrideKind::other_scale:
        interventions.other_scale = true;
        return;
      case OverrideKind::no_residuals:
        interventions.no_residuals = true;
        return;
      case OverrideKind::no_positions:
        interventions.no_positions = true;
        return;
      case OverrideKind::lifted_mask:
        attention.inside.lifted = CellMask(3, 3);
        return;
      case OverrideKind::recorded_step:
        return show_frame(scope, 0);
    }
  }

  std::vector<Override> list() const { return listed(overrides_of(scope), scope.a.newest.snapshot.get()); }

  // The fonts of tests have "?" in the place of signs beyond Latin.
  static std::string drawn(std::string text) {
    for (const std::string sign : {"→", "“", "”", "√", "−"})
      for (std::size_t at; (at = text.find(sign)) != std::string::npos;) text.replace(at, sign.size(), "?");
    return text;
  }

  void click_cross_behind(const std::string& text) {
    const auto at = ui.find_text(text);
    ASSERT_TRUE(at) << text;
    const float width = text_size(ui.skin.fonts.ui, text).x;
    ui.click({at->x + width / 2 + 3 * 2 + 3, at->y}, draw);
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

constexpr std::array kinds = {
    std::pair{OverrideKind::head_off, "encoder L2 H3 ablated"},
    std::pair{OverrideKind::layer_off, "decoder L1 skipped"},
    std::pair{OverrideKind::forced_attention, "encoder L2 H3: src2 → src1"},
    std::pair{OverrideKind::replaced_token, "src2 replaced by “dog”"},
    std::pair{OverrideKind::hidden_keys, "encoder L2 H3 masked"},
    std::pair{OverrideKind::steered, "encoder L2: +4 × (king − man)"},
    std::pair{OverrideKind::other_scale, "scores not divided by √d_k"},
    std::pair{OverrideKind::no_residuals, "no residual connections"},
    std::pair{OverrideKind::no_positions, "without positions"},
    std::pair{OverrideKind::prefix, "output starts with “zq”"},
    std::pair{OverrideKind::lifted_mask, "mask removed"},
    std::pair{OverrideKind::recorded_step, "recorded step 400"},
};

TEST_F(OverridesTest, ThePlainModelHasNoBar) {
  EXPECT_TRUE(list().empty());
  EXPECT_FALSE(ui.drew("Back to the unmodified model"));
}

TEST_F(OverridesTest, EachIsSaidInEveryWorkspaceAndItsCrossTakesJustItBack) {
  for (const Workspace& workspace : workspaces()) {
    scope.layout.workspace = &workspace;
    for (const auto& [kind, text] : kinds) {
      for (const auto& [other, unused] : kinds) depart(other);
      ui.frames(2, draw);
      for (const auto& [other, its_text] : kinds)
        EXPECT_TRUE(ui.drew(drawn(its_text))) << its_text << " in " << workspace.name;
      click_cross_behind(drawn(text));
      ui.frames(2, draw);
      EXPECT_FALSE(ui.drew(drawn(text))) << text << " in " << workspace.name;
      EXPECT_EQ(list().size(), kinds.size() - 1) << text << " in " << workspace.name;
      back_to_plain_model(scope);
    }
  }
}

TEST_F(OverridesTest, OneButtonTakesAllBackAndThePlainModelIsAsked) {
  for (const auto& [kind, text] : kinds) depart(kind);
  ui.frames(2, draw);
  EXPECT_FALSE(scope.asked.interventions.empty());
  EXPECT_EQ(scope.asked.prefix, "zq");
  ASSERT_TRUE(ui.click_text("Back to the unmodified model", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(list().empty());
  EXPECT_FALSE(ui.drew("Back to the unmodified model"));
  EXPECT_TRUE(scope.asked.interventions.empty());
  EXPECT_EQ(scope.asked.prefix, "");
  EXPECT_FALSE(scope.a.past.snapshot);
}

TEST_F(OverridesTest, NothingMovesWhereOneHasRoomInTheLineOfTabs) {
  ui.io().DisplaySize = {1600, 1000};
  ui.frames(3, draw);
  const auto before = ui.find_text("Full contrast");
  depart(OverrideKind::lifted_mask);
  ui.frames(3, draw);
  ASSERT_TRUE(before);
  EXPECT_EQ(ui.find_text("Full contrast")->y, before->y);
}

TEST_F(OverridesTest, AClickShowsIt) {
  depart(OverrideKind::forced_attention);
  scope.layout.workspace = find_workspace("positions");
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text(drawn("encoder L2 H3: src2 → src1"), draw));
  EXPECT_EQ(scope.layout.workspace, find_workspace("attention"));
  EXPECT_EQ(attention.place(), head);
  EXPECT_EQ(attention.pinned_row, 1);
  EXPECT_EQ(attention.pinned_col, 0);
}

TEST(Listed, PiecesThatAreNotThereAreNumbered) {
  Overrides overrides;
  overrides.interventions.forced = {{head, 7, 0}};
  overrides.prefix_ids = {4};
  const std::vector<Override> list = listed(overrides, nullptr);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].text, "encoder L2 H3: token 8 → token 1");
  EXPECT_EQ(list[1].text, "output starts with token 1");
}

}  // namespace
}  // namespace attnscope
