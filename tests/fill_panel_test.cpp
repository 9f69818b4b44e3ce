// Fill mask, and the attention of a sentence pair.
#include <gmock/gmock.h>

#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ModelConfig masked_model() {
  ModelConfig model;
  model.architecture = "masked-lm";
  model.mask_id = 77;
  model.end_id = 2;
  return model;
}

class FillPanel : public testing::Test {
 protected:
  void open(const char* workspace, const ModelConfig& model, std::shared_ptr<Snapshot> snapshot) {
    scope.layout.workspace = find_workspace(workspace);
    RunOpened run = fixture_run(20);
    run.config.model = model;
    receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, nullptr);
    snapshot->request = ++scope.asked.request;
    scope.layout.sentence = snapshot->source_text;
    receive(scope, {}, std::move(snapshot));
    ui.frames(3, draw);
    scope.commands.clear();
  }
  const Snapshot& snapshot() const { return *scope.a.complete.snapshot; }
  DecodingView& view() { return scope.views.of<DecodingView>(); }

  AppState scope;
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(FillPanel, ReplacesDecodingAndNamesItself) {
  open("decoding", masked_model(), snapshot_of_model(masked_model()));
  EXPECT_TRUE(ui.drew("Fill mask"));
  EXPECT_TRUE(ui.drew("Unmask all"));
  EXPECT_FALSE(ui.drew("Beam tree"));
  EXPECT_TRUE(ui.drew("pseudo-log-likelihood -7.50 nats, -1.50 per token"));
}

TEST_F(FillPanel, MasksAndShowsTheSelectedToken) {
  open("decoding", masked_model(), snapshot_of_model(masked_model()));
  toggle_mask(view(), snapshot(), 3);
  toggle_mask(view(), snapshot(), 1);
  EXPECT_THAT(view().masked, ElementsAre(1, 3));
  ui.frames(2, draw);
  const auto asked = [&] {
    Probe newest;
    for (const Command& command : scope.commands)
      if (const auto* probe = std::get_if<Probe>(&command)) newest = *probe;
    return newest;
  };
  EXPECT_THAT(asked().masked, ElementsAre(1, 3));
  toggle_mask(view(), snapshot(), 1);
  EXPECT_THAT(view().masked, ElementsAre(3));
  ui.key(Key::del, draw);
  ui.frames(2, draw);
  EXPECT_THAT(view().masked, IsEmpty());
}

TEST_F(FillPanel, TheTokenClickedLastIsFramedUnlikeTheOthersThatAreMasked) {
  open("decoding", masked_model(), snapshot_of_model(masked_model()));
  const float title = ui.find_text("attention of")->y;
  const auto place_of = [&](const char* token) {  // in the sentence below that title
    for (int nth = 0; const auto at = ui.find_text(token, nth); ++nth)
      if (at->y > title + 10 && at->y < title + 40) return *at;
    return ImVec2();
  };
  const auto framed = [&](const char* token, Color32 color) {
    const ImVec2 middle = place_of(token);
    for (float y = middle.y - 14; y < middle.y + 14; ++y)
      if (ui.filled({middle.x, y}, color)) return true;
    return false;
  };
  EXPECT_TRUE(framed("src3", ui.skin.theme.accent));
  for (const char* token : {"src2", "src4"}) ui.click(place_of(token), draw);
  ui.move({2, 2}, draw);
  EXPECT_TRUE(framed("src4", ui.skin.theme.accent));
  EXPECT_TRUE(framed("src2", ui.skin.theme.warning));
  EXPECT_FALSE(framed("src2", ui.skin.theme.accent) || framed("src3", ui.skin.theme.accent));
}

TEST_F(FillPanel, ATypedMaskStays) {
  auto made = snapshot_of_model(masked_model());
  made->decoding[2].reference->token.id = 77;
  open("decoding", masked_model(), made);
  toggle_mask(view(), snapshot(), 2);
  EXPECT_THAT(view().masked, IsEmpty());
}

TEST_F(FillPanel, ADiscriminatorAndABareModelSayWhatTheyHave) {
  ModelConfig model = masked_model();
  model.head = "replaced";
  open("decoding", model, snapshot_of_model(model));
  EXPECT_TRUE(ui.drew("Replaced tokens"));
  model.head = "none";
  open("decoding", model, snapshot_of_model(model));
  EXPECT_TRUE(ui.drew("This checkpoint has no head that predicts tokens"));
}

TEST_F(FillPanel, APairIsFilteredBySentence) {
  auto made = snapshot_of_model(masked_model());
  made->source[2].id = 2;  // [SEP] after two tokens: sentence B has the last two
  open("attention", masked_model(), made);
  AttentionView& attention = scope.views.of<AttentionView>();
  attention.level = AttentionLevel::head;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("A+B"));
  EXPECT_EQ(attention.map.second_row, 3);
  EXPECT_EQ(attention.map.map.rows, 5);
  attention.pair = PairFilter::a_to_b;
  ui.frames(2, draw);
  EXPECT_EQ(attention.map.map.rows, 3);
  EXPECT_EQ(attention.map.map.cols, 2);
  EXPECT_THAT(attention.map.row_labels, ElementsAre("▁src1", "▁src2", "▁src3"));
  EXPECT_THAT(attention.map.col_labels, ElementsAre("▁src4", "</s>"));
  const Matrix& whole = *map_at(snapshot(), attention.place());
  EXPECT_EQ(attention.map.map.at(1, 0), whole.at(1, 3));
  made = snapshot_of_model(masked_model());
  for (Token& token : made->source) token.id = 9;
  open("attention", masked_model(), made);
  EXPECT_EQ(attention.pair, PairFilter::all) << "one sentence has no filter";
}

}  // namespace
}  // namespace attnscope
