// The workspaces with nothing, little and much in them, and what mouse and keys do there.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "config/position_schemes.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/row.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/positions/numbers.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr FixtureSize small = {3, 4, 2, 4};
constexpr FixtureSize large = {128, 128, 6, 8};

class Panels : public testing::Test {
 protected:
  void show(FixtureSize size) {
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}},
            fixture_snapshot(size, scope.asked.request + 1));
    scope.commands.clear();
    ui.frames(3, draw);
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  DecodingView& decoding = scope.views.of<DecodingView>();
  PositionNumbersView& positions = scope.views.of<PositionNumbersView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(Panels, EveryWorkspaceSaysWhatIsGoingOnWhileThereIsNothing) {
  receive(scope, {Progress{"Reading pairs", 0.25}}, nullptr);
  for (const Workspace& workspace : workspaces()) {
    scope.layout.workspace = &workspace;
    ui.frames(3, draw);
    EXPECT_TRUE(ui.drew("Reading pairs")) << workspace.name;
  }
}

TEST_F(Panels, EveryWorkspaceDrawsSmallAndLargeSnapshots) {
  for (const FixtureSize size : {small, large, FixtureSize{1, 1, 1, 1}, FixtureSize{40, 40, 12, 32}}) {
    show(size);
    for (const Workspace& workspace : workspaces()) {
      scope.layout.workspace = &workspace;
      ui.frames(3, draw);
      EXPECT_GT(ui.vertices(), 500) << workspace.name;
    }
  }
}

TEST_F(Panels, EveryWorkspaceFitsTinyAndHugeWindows) {
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(4000, 3000)}) {
    ui.io().DisplaySize = size;
    show(small);
    for (const Workspace& workspace : workspaces()) {
      scope.layout.workspace = &workspace;
      ui.frames(3, draw);
      EXPECT_GT(ui.vertices(), 100) << workspace.name;
    }
  }
}

TEST_F(Panels, PicturesAreSentToTheGpuOnlyWhenTheSnapshotChanges) {
  show(small);
  ui.frames(5, draw);
  const int uploads = ui.textures.uploads;
  ui.frames(5, draw);
  EXPECT_EQ(ui.textures.uploads, uploads);
  receive(scope, {}, fixture_snapshot(small, 7));
  ui.frames(2, draw);
  // 2 layers × 4 heads × 3 parts, and the large one.
  EXPECT_EQ(ui.textures.uploads, uploads + 25);
}

TEST_F(Panels, ThumbnailsShowTheirHeadsWeights) {
  show(small);
  const Matrix& map = scope.a.newest.snapshot->encoder[0][1];
  bool found = false;
  for (const auto& [key, picture] : ui.textures.pictures) {
    if (picture.width != map.cols || picture.height != map.rows) continue;
    bool same = true;
    for (std::size_t i = 0; i < picture.rgba.size(); ++i) {
      same &= picture.rgba[i] == map_color(ColorMap::viridis, map.values[i]);
    }
    found |= same;
  }
  EXPECT_TRUE(found);
}

TEST_F(Panels, AClickSelectsAHead) {
  show(small);
  // The first H3 on the screen is the encoder's; its first layer is right below.
  const auto heading = ui.find_text("H3");
  ASSERT_TRUE(heading);
  ui.click(ImVec2(heading->x, heading->y + 25), draw);
  EXPECT_EQ(attention.part, AttentionPart::encoder);
  EXPECT_EQ(attention.layer, 0);
  EXPECT_EQ(attention.head, 2);
  EXPECT_TRUE(ui.drew("Encoder, layer 1, head 3"));
}

TEST_F(Panels, ArrowKeysGoFromHeadToHeadThroughTheParts) {
  show(small);
  attention.part = AttentionPart::encoder;
  attention.layer = 0;
  ui.key(Key::right, draw);
  EXPECT_EQ(attention.head, 1);
  ui.key(Key::down, draw);
  EXPECT_EQ(attention.layer, 1);
  ui.key(Key::down, draw);
  EXPECT_EQ(attention.part, AttentionPart::decoder);
  EXPECT_EQ(attention.layer, 0);
  ui.key(Key::up, draw);
  EXPECT_EQ(attention.part, AttentionPart::encoder);
  EXPECT_EQ(attention.layer, 1);
  ui.key(Key::left, draw);
  ui.key(Key::left, draw);
  EXPECT_EQ(attention.head, 0);
}

TEST_F(Panels, AClickOnARowKeepsItsListOfWeights) {
  show(small);
  EXPECT_TRUE(ui.drew("out3 attends to"));  // the last word, until one is chosen
  // A row of the cross map is named by the word being written; the first out2 is the translation in the sentence bar.
  const auto label = ui.find_text("out2", 1);
  ASSERT_TRUE(label);
  ui.click(ImVec2(label->x + 60, label->y), draw);
  ASSERT_EQ(attention.pinned_row, 1);
  ui.move(ImVec2(5, 5), draw);
  EXPECT_TRUE(ui.drew("out2 attends to"));
  ui.key(Key::page_down, draw);
  EXPECT_EQ(attention.pinned_row, 2);
  ui.key(Key::escape, draw);
  EXPECT_FALSE(attention.pinned_row);
}

TEST_F(Panels, ThePronounsRowAndHeadAreShownFirst) {
  receive(scope, {}, animal_snapshot());
  ui.frames(3, draw);
  const Snapshot& snapshot = *scope.a.newest.snapshot;
  const int it = telling_row(snapshot.source);
  EXPECT_EQ(snapshot.source[static_cast<std::size_t>(it)].text, "▁it");
  EXPECT_EQ(attention.part, AttentionPart::encoder);
  const auto place = telling_head(snapshot);
  ASSERT_TRUE(place);
  EXPECT_EQ(*place, (HeadPlace{attention.part, attention.layer, attention.head}));
  EXPECT_TRUE(ui.drew("it attends to"));
  EXPECT_FALSE(attention.pinned_row);

  // Chosen once: what the user looks at stays with the next sentence.
  attention.part = AttentionPart::cross;
  attention.head = 2;
  receive(scope, {}, animal_snapshot(2));
  ui.frames(3, draw);
  EXPECT_EQ(attention.part, AttentionPart::cross);
  EXPECT_EQ(attention.head, 2);
}

TEST(TellingRow, IsTheLastPronounElseTheLastWord) {
  const auto row = [](std::initializer_list<const char*> texts) {
    std::vector<Token> tokens;
    for (const char* text : texts) tokens.push_back({0, text});
    return telling_row(tokens);
  };
  EXPECT_EQ(row({"▁it", "▁was", "▁qu", "'", "il", "▁est", "</s>"}), 4);
  EXPECT_EQ(row({"▁How", "▁are", "▁you", "▁?", "</s>"}), 2);
  EXPECT_EQ(row({"▁é", "t", "</s>"}), 0);
  EXPECT_EQ(row({"▁", ".", "</s>"}), -1);
  EXPECT_EQ(row({}), -1);
}

TEST(TellingHead, IsWhereThePronounWeighsAnEarlierWordMost) {
  Snapshot snapshot;
  for (const char* token : {"▁the", "▁dog", ".", "▁it", "▁barks"}) snapshot.source.push_back({0, token});
  snapshot.encoder.assign(2, std::vector<Matrix>(2, Matrix(5, 5)));
  snapshot.encoder[0][0].at(3, 2) = 0.9F;  // not a word
  snapshot.encoder[0][1].at(3, 4) = 0.9F;  // not earlier
  snapshot.encoder[1][0].at(1, 0) = 0.9F;  // not the pronoun
  snapshot.encoder[1][1].at(3, 1) = 0.5F;
  EXPECT_EQ(telling_head(snapshot), (HeadPlace{AttentionPart::encoder, 1, 1}));
  snapshot.source[3].text = "▁cat";
  EXPECT_FALSE(telling_head(snapshot));
}

TEST_F(Panels, ASelectionThatIsGoneFallsBackToWhatIsThere) {
  show(large);
  attention.layer = 5;
  attention.head = 7;
  attention.pinned_row = 100;
  decoding.time_step = 120;
  decoding.layer = 5;
  decoding.head = 7;
  show(small);
  EXPECT_EQ(attention.layer, 1);
  EXPECT_EQ(attention.head, 3);
  EXPECT_FALSE(attention.pinned_row);
  scope.layout.workspace = find_workspace("decoding");
  ui.frames(2, draw);
  EXPECT_EQ(decoding.time_step, 3);
}

TEST_F(Panels, TheLastTranslationStaysWhileTheNextIsDecoded) {
  show(small);
  auto partial = fixture_snapshot(FixtureSize{5, 5, 2, 4}, 9);
  partial->target_in.clear();
  partial->target_out.clear();
  partial->decoder.clear();
  partial->cross.clear();
  partial->decoding.clear();
  receive(scope, {}, partial);
  ui.frames(2, draw);
  EXPECT_EQ(scope.a.newest.snapshot, partial);
  EXPECT_EQ(scope.a.complete.snapshot->source.size(), 3U);
  EXPECT_TRUE(ui.drew("Cross, layer 2, head 1"));
  scope.layout.workspace = find_workspace("decoding");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("step 1 of 4"));
}

TEST_F(Panels, ArrowKeysStayWithTheWorkspaceAfterAClickOnTheToolbar) {
  show(small);
  ASSERT_TRUE(ui.click_text("Train", draw));
  ASSERT_TRUE(ui.click_text("Attention", draw));
  for (int i = 0; i < 3; ++i) ui.key(Key::right, draw);
  EXPECT_EQ(attention.head, 3);
}

// ---- every architecture

class Architectures : public Panels {
 protected:
  void open(const ModelConfig& model) {
    RunOpened run = fixture_run(20);
    run.config.model = model;
    receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, snapshot_of_model(model, scope.asked.request + 1));
    scope.commands.clear();
  }

  static ModelConfig language_model() {
    ModelConfig model;
    model.architecture = "decoder-only";
    return model;
  }

  static ModelConfig recurrent(const char* attention) {
    ModelConfig model;
    model.architecture = "recurrent";
    model.attention = attention;
    return model;
  }

  // Presses every key of a workspace and moves the mouse over all of it.
  void use() {
    for (const Key key : {Key::down, Key::right, Key::up, Key::up, Key::left, Key::page_down, Key::end, Key::home,
                          Key::enter, Key::page_up}) {
      ui.key(key, draw);
    }
    for (float x = 300; x < 950; x += 90) {
      for (float y = 60; y < 620; y += 80) ui.move(ImVec2(x, y), draw);
    }
    ui.click(ImVec2(700, 300), draw);
  }
};

TEST_F(Architectures, EveryWorkspaceShowsEachInEverySizeOfWindow) {
  for (const ImVec2 size : {ImVec2(1280, 720), ImVec2(320, 240)}) {
    ui.io().DisplaySize = size;
    for (const ModelConfig& model : fixture_models()) {
      open(model);
      for (const Workspace& workspace : workspaces()) {
        scope.layout.workspace = &workspace;
        ui.frames(3, draw);
        EXPECT_GT(ui.vertices(), 100) << workspace.name << " of " << model.architecture << ", " << model.positions;
      }
    }
  }
}

TEST_F(Architectures, CanBeChangedWhileASelectionIsHeld) {
  std::vector<ModelConfig> models = fixture_models();
  for (const std::size_t next : {0U, 7U, 9U, 0U, 8U, 7U, 5U, 8U, 10U, 3U, 6U, 4U, 9U, 1U}) {
    open(models[next]);
    for (const Workspace& workspace : workspaces()) {
      scope.layout.workspace = &workspace;
      ui.frames(2, draw);
      use();
    }
    scope.layout.workspace = find_workspace("attention");
    ui.frames(2, draw);
    const bool any = models[next].attention != "none" || !models[next].is_recurrent();
    EXPECT_EQ(has_part(models[next], attention.part), any);
  }
}

TEST_F(Architectures, HalfASnapshotOfAnotherStandsBesideTheLastWholeOne) {
  for (const ModelConfig& before : fixture_models()) {
    for (const ModelConfig& after : {ModelConfig(), language_model(), recurrent("bahdanau"), recurrent("none")}) {
      open(before);
      auto half = snapshot_of_model(after, scope.asked.request + 1);
      half->target_out.clear();
      half->decoding.clear();
      half->decoder.clear();
      half->cross.clear();
      receive(scope, {}, half);
      for (const Workspace& workspace : workspaces()) {
        scope.layout.workspace = &workspace;
        ui.frames(2, draw);
        ui.key(Key::down, draw);
        ui.key(Key::right, draw);
      }
    }
  }
  EXPECT_GT(ui.vertices(), 100);
}

TEST_F(Architectures, ALanguageModelHasOneGroupOfHeadsAndAPrompt) {
  open(language_model());
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("masked self-attention"));
  EXPECT_FALSE(ui.drew("decoder to source"));
  EXPECT_EQ(attention.part, AttentionPart::decoder);
  EXPECT_TRUE(ui.drew("Decoder, layer 2, head 1"));
  EXPECT_TRUE(ui.drew("out2 attends to"));  // the prompt's last piece
  EXPECT_TRUE(ui.drew("Prompt"));
  EXPECT_FALSE(ui.drew("Sentence"));
  EXPECT_TRUE(ui.drew("out3 out4"));
}

TEST_F(Architectures, AnEmptyPromptIsLookedAtToo) {
  open(language_model());
  scope.layout.sentence.clear();
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("Type a sentence"));
  EXPECT_TRUE(ui.drew("Decoder, layer 2, head 1"));
}

TEST_F(Architectures, TheDecodingOfAPromptBeginsAfterIt) {
  open(language_model());
  scope.layout.workspace = find_workspace("decoding");
  ui.frames(3, draw);
  EXPECT_EQ(decoding.time_step, 2);
  EXPECT_TRUE(ui.drew("Generates"));
  EXPECT_TRUE(ui.drew("Attention of every head to the text"));
  EXPECT_FALSE(ui.drew("Attention of every head to the source"));
  ui.key(Key::left, draw);
  EXPECT_TRUE(ui.drew("Forced"));
  open(ModelConfig());
  ui.frames(3, draw);
  EXPECT_EQ(decoding.time_step, 0);
}

TEST_F(Architectures, ARecurrentModelHasOneMapAndNoMask) {
  open(recurrent("bahdanau"));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Cross · bahdanau"));
  EXPECT_FALSE(ui.drew("self-attention"));
  scope.layout.workspace = find_workspace("decoding");
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Alignment"));
  EXPECT_FALSE(ui.drew("Look-ahead mask"));
}

TEST_F(Architectures, WithoutAttentionTheBottleneckIsExplained) {
  open(recurrent("none"));
  for (const Workspace* workspace : {find_workspace("attention"), find_workspace("decoding")}) {
    scope.layout.workspace = workspace;
    ui.frames(3, draw);
    EXPECT_TRUE(ui.drew("This model has no attention: the whole sentence passes through")) << workspace->name;
    EXPECT_TRUE(ui.drew("128 numbers"));
  }
}

TEST_F(Architectures, EveryWayToTellTheOrderSaysWhatItIs) {
  scope.layout.workspace = find_workspace("positions");
  for (const PositionScheme& scheme : position_schemes()) {
    ModelConfig model;
    model.positions = scheme.name;
    open(model);
    ui.frames(3, draw);
    const bool nothing = scheme.form == PositionForm::none;
    EXPECT_TRUE(ui.drew(nothing ? "This model has no positional encoding" : scheme.heading))
        << scheme.name << ": " << ui.drawn_text();
  }
  open(recurrent("bahdanau"));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("it reads one token after another, so the order is implicit"));
}

TEST_F(Architectures, TheTableOfPositionsIsChosen) {
  scope.layout.workspace = find_workspace("positions");
  ModelConfig model;
  model.positions = "alibi";
  scope.layout.setup_open = false;  // which has these words too
  open(model);
  ui.frames(3, draw);
  EXPECT_EQ(positions.heads.cols, 41);  // the encoder sees both sides
  ASSERT_TRUE(ui.click_text("encoder", draw));
  ASSERT_TRUE(ui.click_text("decoder", draw));
  ui.frames(2, draw);
  EXPECT_EQ(positions.table, 1U);
  EXPECT_EQ(positions.heads.cols, 21);
}

class Decoding : public Panels {
 protected:
  Decoding() {
    scope.layout.workspace = find_workspace("decoding");
    show(small);
  }
};

TEST_F(Decoding, KeysGoForwardsAndBack) {
  EXPECT_TRUE(ui.drew("step 1 of 4"));
  ui.key(Key::right, draw);
  ui.key(Key::right, draw);
  EXPECT_EQ(decoding.time_step, 2);
  EXPECT_TRUE(ui.drew("step 3 of 4"));
  ui.key(Key::left, draw);
  EXPECT_EQ(decoding.time_step, 1);
  ui.key(Key::end, draw);
  EXPECT_EQ(decoding.time_step, 3);
  ui.key(Key::right, draw);
  EXPECT_EQ(decoding.time_step, 3);
  ui.key(Key::home, draw);
  EXPECT_EQ(decoding.time_step, 0);
  EXPECT_TRUE(scope.commands.empty());  // the arrows do not train here
}

TEST_F(Decoding, ShowsTheCandidatesOfTheStep) {
  decoding.time_step = 1;
  ui.frames(2, draw);
  const DecodingStep& step = scope.a.complete.snapshot->decoding[1];
  EXPECT_TRUE(ui.drew("mot3"));
  EXPECT_TRUE(ui.drew(std::to_string(step.candidates[0].probability).substr(0, 4)));
}

TEST_F(Decoding, NothingMovesUnlessAsked) {
  ui.frames(120, draw);
  EXPECT_EQ(decoding.time_step, 0);
  EXPECT_FALSE(animating(scope));
}

TEST_F(Decoding, PlayGoesToTheEndAndStops) {
  ASSERT_TRUE(ui.click_text("Play", draw));
  EXPECT_TRUE(decoding.playing);
  EXPECT_TRUE(animating(scope));
  const int frames = static_cast<int>(4 * seconds_per_step / static_cast<double>(ui.io().DeltaTime));
  ui.frames(frames, draw);
  EXPECT_EQ(decoding.time_step, 3);
  EXPECT_FALSE(decoding.playing);
  ui.key(Key::enter, draw);  // from the beginning again
  EXPECT_EQ(decoding.time_step, 0);
  EXPECT_TRUE(decoding.playing);
}

}  // namespace
}  // namespace attnscope
