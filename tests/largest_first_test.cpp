// Lists of weights and of their changes begin with the largest, whether it is more or less.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "widgets/capture.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

struct RowList : testing::Test {
  UiHarness ui{{400, 400}};
  Matrix map{2, 4};
  const std::vector<std::string> keys{"one", "two", "three", "four"};
  int visible = 4;
  RowBars bars{1, 0xFF112233, 0xFF332211};
  UiHarness::Draw draw = ui.in_panel([this] { draw_row_list(map, 1, visible, keys, -1, bars, ui.skin); });

  RowList() { map.values = {9, 9, 9, 9, 0.1F, -0.9F, 0.5F, -0.2F}; }

  float height_of(const char* key) {
    const auto at = ui.find_text(key);
    EXPECT_TRUE(at) << key;
    return at ? at->y : 0;
  }
};

TEST_F(RowList, IsOrderedBySizeWithoutSign) {
  ui.frames(2, draw);
  EXPECT_LT(height_of("two"), height_of("three"));
  EXPECT_LT(height_of("three"), height_of("four"));
  EXPECT_LT(height_of("four"), height_of("one"));
  EXPECT_TRUE(ui.drew("?0.900"));
}

TEST_F(RowList, MaskedScoresComeLastAndAreNoNumbers) {
  map.at(1, 1) = -std::numeric_limits<float>::infinity();
  bars.high = 40;
  map.at(1, 2) = 20;
  PictureRecorder recorder;
  ui.skin.recorder = &recorder;
  recorder.begin({{0, 0}, {400, 400}});
  ui.frames(1, draw);
  float longest = 0;
  for (const Drawn& drawn : recorder.end().shapes)
    if (const auto* rect = std::get_if<DrawnRect>(&drawn.shape); rect && rect->color == bars.positive)
      longest = std::max(longest, rect->high.x - rect->low.x);
  EXPECT_GT(longest, 50);
  EXPECT_LT(longest, 180) << "half of a full bar";
  EXPECT_GT(height_of("two"), height_of("four"));
  EXPECT_GT(height_of("two"), height_of("one"));
  EXPECT_FALSE(ui.drew("inf"));
}

TEST_F(RowList, LeavesOutWhatTheQueryCannotSee) {
  visible = 2;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("two"));
  EXPECT_FALSE(ui.drew("three"));
}

// A query looks more at one piece and less at another; the tooltip on its lines has room for five of sixteen.
TEST(ChangesOfAQuery, AreToldTheLargestFirst) {
  auto changed = animal_snapshot(2);
  changed->source[1].text = "raised";
  changed->source[2].text = "lowered";
  changed->source[10].text = "watching";
  changed->untouched = std::make_shared<Snapshot>(*changed);
  changed->encoder[1][0].at(10, 1) += 0.125F;
  changed->encoder[1][0].at(10, 2) -= 0.25F;
  AppState scope;
  UiHarness ui{{1600, 1000}};
  const UiHarness::Draw draw = [&] { draw_shell(scope, ui.textures, ui.skin); };
  scope.layout.setup_open = scope.layout.curves_open = false;
  AttentionView& attention = scope.views.of<AttentionView>();
  attention.begun = true;
  attention.level = AttentionLevel::head;
  attention.mix = HeadMix::difference;
  select(attention, {AttentionPart::encoder, 1, 0});
  receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, changed);
  ui.frames(3, draw);
  ASSERT_EQ(attention.map.choice.mix, HeadMix::difference);
  for (int nth = 0; !ui.drew("+0.1250 raised"); ++nth) {
    const auto token = ui.find_text("watching", nth);  // of the matrix, the lines and the list
    ASSERT_TRUE(token) << "its lines are not on the screen";
    ui.move(*token, draw);
    ui.frames(3, draw);
  }
  const auto less = ui.find_text("-0.2500 lowered");
  ASSERT_TRUE(less);
  EXPECT_LT(less->y, ui.find_text("+0.1250 raised")->y);
}

}  // namespace
}  // namespace attnscope
