// The levels "Model" and "Head" of the attention workspace, under an injected mouse and keyboard.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "shell/panels.h"
#include "shell/purposes.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/controls.h"
#include "workspaces/attention/levels.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr HeadPlace encoder_place(int layer, int head) {
  return {AttentionPart::encoder, layer, head};
}

class Levels : public testing::Test {
 protected:
  Levels() {
    scope.layout.setup_open = scope.layout.curves_open = false;
    scope.layout.sentence = "What is typed";
    show(animal_snapshot(1));
    view.part = AttentionPart::encoder;
    view.layer = 1;
    view.head = 0;
    ui.frames(2, draw);
  }

  void show(std::shared_ptr<Snapshot> snapshot) {
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, std::move(snapshot));
    scope.commands.clear();
    ui.frames(3, draw);
  }

  // The position of a thumbnail, found by the name of its texture.
  ImVec2 thumbnail(const char* head_name, int nth, float down) {
    const auto name = ui.find_text(head_name, nth);
    EXPECT_TRUE(name) << head_name;
    return name ? ImVec2{name->x, name->y + down} : ImVec2{};
  }

  const Snapshot& snapshot() const { return *scope.a.newest.snapshot; }
  const Matrix& map(int layer, int head) const {
    return snapshot().encoder[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)];
  }
  void click(std::string_view text, int nth = 0) {
    ui.frames(2, draw);
    const auto at = ui.find_text(text, nth);
    ASSERT_TRUE(at) << text << " in " << ui.drawn_text();
    ui.click(*at, draw);
  }
  void choose(const char* title) {
    click("Show");  // the label; the box is right of it
    const auto at = ui.find_text("Show");
    ui.click({at->x + 80, at->y}, draw);
    click(title, ui.find_text(title, 1) ? 1 : 0);
  }

  // Which of the words on the screen is a row's label: the sentence's pieces are drawn later.
  static constexpr int row_label = 0;

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  AttentionView& view = attention;
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

// ---- Model

class ModelLevel : public Levels {
 protected:
  ModelLevel() {
    view.level = AttentionLevel::model;
    ui.frames(3, draw);
  }
};

TEST_F(ModelLevel, ShowsEveryPartWithItsLayersAndHeads) {
  for (const char* name : {"Encoder", "Decoder", "Cross", "H4", "L2"}) EXPECT_TRUE(ui.drew(name)) << name;
  EXPECT_FALSE(ui.drew("attends to"));
  EXPECT_THAT(ui.textures.pictures, SizeIs(testing::Ge(24U)));
}

TEST_F(ModelLevel, AClickSelectsADoubleClickOpens) {
  const ImVec2 third = thumbnail("H3", 0, 40);
  ui.click(third, draw);
  EXPECT_EQ(view.place(), encoder_place(0, 2));
  EXPECT_EQ(view.level, AttentionLevel::model);
  ui.double_click(thumbnail("H2", 0, 40), draw);
  EXPECT_EQ(view.place(), encoder_place(0, 1));
  EXPECT_EQ(view.level, AttentionLevel::head);
}

TEST_F(ModelLevel, ShiftClickShowsHeadsTogetherAndTakesThemAway) {
  const auto shift_click = [&](ImVec2 at) {
    feed_modifiers(ui.io(), {.shift = true});
    ui.click(at, draw);
    feed_modifiers(ui.io(), {});
  };
  ui.click(thumbnail("H1", 0, 40), draw);
  shift_click(thumbnail("H3", 0, 40));
  EXPECT_THAT(view.together, ElementsAre(encoder_place(0, 2)));
  EXPECT_EQ(view.place(), encoder_place(0, 0));
  EXPECT_NE(color_of(view, view.place(), ui.skin.theme), color_of(view, encoder_place(0, 2), ui.skin.theme));
  shift_click(thumbnail("H4", 0, 40));
  EXPECT_THAT(view.together, ElementsAre(encoder_place(0, 2), encoder_place(0, 3)));
  shift_click(thumbnail("H3", 0, 40));
  EXPECT_THAT(view.together, ElementsAre(encoder_place(0, 3)));
  shift_click(thumbnail("H1", 0, 40));  // the selected one: another takes its place
  EXPECT_EQ(view.place(), encoder_place(0, 3));
  EXPECT_THAT(view.together, IsEmpty());
  shift_click(thumbnail("H4", 0, 40));  // the last one stays
  EXPECT_EQ(view.place(), encoder_place(0, 3));
}

TEST_F(ModelLevel, AHeadOfAnotherPartIsNotShownTogether) {
  toggle_together(view, encoder_place(0, 2));
  EXPECT_THAT(view.together, SizeIs(1));
  toggle_together(view, {AttentionPart::cross, 1, 1});
  EXPECT_EQ(view.place(), (HeadPlace{AttentionPart::cross, 1, 1}));
  EXPECT_THAT(view.together, IsEmpty());
}

TEST_F(ModelLevel, SortsByEntropyAndTheOtherWayRound) {
  click("by entropy");
  ASSERT_THAT(view.ranking.heads, SizeIs(24));
  const auto value = [&](std::size_t i) { return *view.ranking.heads[i].value; };
  for (std::size_t i = 1; i < 24; ++i) EXPECT_LE(value(i - 1), value(i));
  const HeadPlace sharpest = view.ranking.heads.front().place;
  const Matrix& first = maps_of(
      snapshot(), sharpest.part)[static_cast<std::size_t>(sharpest.layer)][static_cast<std::size_t>(sharpest.head)];
  EXPECT_NEAR(value(0), mean_entropy(first), 1e-4);
  EXPECT_TRUE(ui.drew(fmt::format("{:.2f} nats", value(0))));
  click("by entropy");
  EXPECT_TRUE(view.reversed);
  EXPECT_EQ(view.ranking.heads.back().place, sharpest);
  click("by layer");
  EXPECT_THAT(view.ranking.heads, IsEmpty());
}

TEST_F(ModelLevel, SortsByDistance) {
  click("by distance");
  for (const RankedHead& head : view.ranking.heads)
    EXPECT_FLOAT_EQ(*head.value, measures_at(view.measures, head.place)->distance);
  for (std::size_t i = 1; i < view.ranking.heads.size(); ++i)
    EXPECT_LE(*view.ranking.heads[i - 1].value, *view.ranking.heads[i].value);
}

TEST_F(ModelLevel, SortsByTheAttentionToTheSelectedPiece) {
  click("by attention to");
  EXPECT_TRUE(ui.drew("Select a token first: click one at the level"));
  view.pinned_col = 1;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("by attention to animal"));
  ASSERT_THAT(view.ranking.heads, SizeIs(24));
  const RankedHead& first = view.ranking.heads.front();
  EXPECT_NE(first.place.part, AttentionPart::decoder);  // whose keys are words of the output
  for (std::size_t i = 16; i < 24; ++i) EXPECT_FALSE(view.ranking.heads[i].value);
  const AttentionMaps& maps = maps_of(snapshot(), first.place.part);
  const Matrix& map = maps[static_cast<std::size_t>(first.place.layer)][static_cast<std::size_t>(first.place.head)];
  EXPECT_FLOAT_EQ(*first.value, received(map, false)[1]);
  // From one query: its weight there.
  view.pinned_row = 10;
  ui.frames(2, draw);
  for (const RankedHead& head : view.ranking.heads) {
    if (head.place.part != AttentionPart::encoder) continue;
    EXPECT_FLOAT_EQ(*head.value, this->map(head.place.layer, head.place.head).at(10, 1));
  }
  // A query alone is the key it is to others.
  view.pinned_col.reset();
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("by attention to it"));
  EXPECT_FALSE(selected_token({}, {scope.a.newest, scope.a.complete}));
}

TEST_F(ModelLevel, ArrowsGoThroughTheListInItsOrder) {
  click("by entropy");
  select(view, view.ranking.heads[0].place);
  ui.key(Key::right, draw);
  EXPECT_EQ(view.place(), view.ranking.heads[1].place);
  ASSERT_GT(view.ranking.columns, 1);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.place(), view.ranking.heads[static_cast<std::size_t>(1 + view.ranking.columns)].place);
  ui.key(Key::up, draw);
  ui.key(Key::left, draw);
  ui.key(Key::left, draw);  // no further
  EXPECT_EQ(view.place(), view.ranking.heads[0].place);
}

TEST_F(ModelLevel, MarksHeadsThatLookEverywhereAlike) {
  EXPECT_FALSE(ui.drew("near-uniform"));
  auto idle = animal_snapshot(2);
  Matrix& even = idle->encoder[0][1];
  even.values.assign(even.values.size(), 1 / static_cast<float>(even.cols));
  Matrix& causal = idle->decoder[1][2];
  for (int row = 0; row < causal.rows; ++row)
    for (int col = 0; col <= row; ++col) causal.at(row, col) = 1 / static_cast<float>(row + 1);
  show(idle);
  EXPECT_TRUE(ui.drew("2 of 24 near-uniform"));
  ui.move(thumbnail("H2", 0, 40), draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("near-uniform: untrained or idle"));
  EXPECT_TRUE(ui.drew("2.77 of at most 2.77 nats"));  // ln 16
}

TEST_F(ModelLevel, EnterGoesNearerAndBackspaceFarther) {
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.level, AttentionLevel::head);
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.level, AttentionLevel::inside);
  for (int i = 0; i < 4; ++i) ui.key(Key::backspace, draw);
  EXPECT_EQ(view.level, AttentionLevel::model);
}

// ---- Head

TEST_F(Levels, MatrixLinesOrBoth) {
  EXPECT_EQ(view.picture, HeadPicture::both);
  const int both = ui.vertices();
  EXPECT_TRUE(ui.drew("received"));
  click("Lines", 0);
  EXPECT_EQ(view.picture, HeadPicture::lines);
  EXPECT_FALSE(ui.drew("received"));
  click("Matrix");
  EXPECT_TRUE(ui.drew("received"));
  EXPECT_LT(ui.vertices(), both);
}

TEST_F(Levels, WithoutRoomForBothTheMatrixIsShown) {
  ui.io().DisplaySize = {700, 500};
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("received")) << "the cells need the room of the margins";
  EXPECT_TRUE(ui.drew("No room for the lines"));
  const int matrix = ui.vertices();
  view.picture = HeadPicture::lines;
  ui.frames(3, draw);
  EXPECT_FALSE(ui.drew("No room for the lines"));
  EXPECT_NE(ui.vertices(), matrix);
}

TEST_F(Levels, TheWeightsAreListedBesideTheLinesWhereTheRoomIsWideElseBelow) {
  view.picture = HeadPicture::lines;
  view.pinned_row = 8;
  const auto list_at = [&](ImVec2 size) {
    ui.io().DisplaySize = size;
    ui.frames(3, draw);
    return ui.find_text("street attends to").value_or(ImVec2());
  };
  EXPECT_GT(list_at({1120, 1000}).y, 450) << "hardly wider than high";
  EXPECT_LT(list_at({1500, 1000}).y, 300);
}

TEST_F(Levels, AClickOnACellChoosesItsQueryAndKeyAndASecondLetsGo) {
  view.picture = HeadPicture::matrix;
  ui.frames(2, draw);
  const ImVec2 row = *ui.find_text("street", row_label);
  const ImVec2 cell{row.x + 90, row.y};
  ui.click(cell, draw);
  ASSERT_TRUE(view.pinned_row && view.pinned_col);
  EXPECT_EQ(*view.pinned_row, 8);
  const int col = *view.pinned_col;
  EXPECT_TRUE(ui.drew("street attends to"));
  ui.click({cell.x + 60, cell.y}, draw);
  EXPECT_EQ(view.pinned_row, 8);
  EXPECT_GT(*view.pinned_col, col);
  ui.click({cell.x + 60, cell.y}, draw);
  EXPECT_FALSE(view.pinned_row || view.pinned_col);
}

TEST_F(Levels, EscapeLetsGoOfQueryAndKey) {
  view.pinned_row = 3;
  view.pinned_col = 2;
  ui.key(Key::escape, draw);
  EXPECT_FALSE(view.pinned_row || view.pinned_col);
}

TEST_F(Levels, LabelsOfTheMatrixAreChosenAndPointedAt) {
  view.picture = HeadPicture::matrix;
  ui.frames(2, draw);
  const ImVec2 row = *ui.find_text("street", row_label);
  ui.move(row, draw);
  EXPECT_EQ(view.pointed_row, 8);
  EXPECT_EQ(view.pointed_col, -1);
  ui.click(row, draw);
  EXPECT_EQ(view.pinned_row, 8);
  EXPECT_FALSE(view.pinned_col);
  ui.click(row, draw);
  EXPECT_FALSE(view.pinned_row);
  // A key's label is above its column, and leans to the right.
  const ImVec2 first = *ui.find_text("because", row_label);
  const ImVec2 cell{first.x + 60, first.y};
  ui.move(cell, draw);
  const int col = view.pointed_col;
  ASSERT_GE(col, 0);
  const float pitch = first.y - row.y;
  const ImVec2 key{cell.x + 10, ui.find_text("The", row_label)->y - pitch / 2 - 8};
  ui.click(key, draw);
  EXPECT_NEAR(*view.pinned_col, col, 1);
  EXPECT_FALSE(view.pinned_row);
}

TEST_F(Levels, LinesForWhichThereIsNoRoomAreMissed) {
  view.picture = HeadPicture::both;
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("No room"));
  ui.io().DisplaySize = {700, 500};
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("No room"));
  view.picture = HeadPicture::matrix;
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("No room"));
}

TEST_F(Levels, PointingAtAPieceOfTheLinesFramesItInTheMatrix) {
  view.picture = HeadPicture::both;
  ui.frames(2, draw);
  // The last but one ▁tired on the screen is a query of the lines, the last one a key, or of the list.
  int count = 0;
  while (ui.find_text("tired", count)) ++count;
  ASSERT_GE(count, 3);
  bool query = false;
  bool key = false;
  for (int i = 0; i < count; ++i) {
    const auto at = ui.find_text("tired", i);
    if (!at) continue;
    ui.move(*at, draw);
    query |= view.pointed_row == 13;
    key |= view.pointed_col == 13;
    ui.move({2, 2}, draw);
    ui.frames(2, draw);
  }
  EXPECT_TRUE(query);
  EXPECT_TRUE(key);
  EXPECT_EQ(view.pointed_row, -1);
}

TEST_F(Levels, TheWheelZoomsADragPansADoubleClickShowsAll) {
  view.picture = HeadPicture::matrix;
  ui.frames(2, draw);
  const auto received_label = ui.find_text("received");
  ASSERT_TRUE(received_label);
  const ImVec2 middle{received_label->x + 250, received_label->y - 200};
  ui.move(middle, draw);
  const int row = view.pointed_row;
  const int col = view.pointed_col;
  ASSERT_GE(row, 0);
  for (int i = 0; i < 3; ++i) ui.wheel(middle, 1, draw);
  EXPECT_GT(view.zoom.scale, 1);
  ui.frames(2, draw);
  EXPECT_EQ(view.pointed_row, row);  // what is under the cursor stays there
  EXPECT_EQ(view.pointed_col, col);
  const float first = view.zoom.col;
  ui.drag(middle, {middle.x - 60, middle.y}, draw);
  EXPECT_GT(view.zoom.col, first);
  EXPECT_FALSE(view.pinned_row || view.pinned_col);  // a drag chooses nothing
  ui.double_click(middle, draw);
  EXPECT_EQ(view.zoom.scale, 1);
  EXPECT_EQ(view.pinned_row, row);  // the first click's
}

TEST_F(Levels, ShowOffersWhatIsMadeOfSeveralHeads) {
  const std::vector<std::pair<const char*, HeadMix>> offered = {
      {"mean over the layer's heads", HeadMix::layer_mean},
      {"max over the layer's heads", HeadMix::layer_max},
      {"mean over all layers", HeadMix::part_mean},
      {"max over all layers", HeadMix::part_max},
      {"attention rollout", HeadMix::rollout},
  };
  for (const auto& [title, mix] : offered) {
    choose(title);
    EXPECT_EQ(view.mix, mix) << title;
    EXPECT_EQ(view.map.choice.mix, mix);
  }
  EXPECT_FALSE(view.map.entropies.empty()) << "its rows sum to 1";
}

TEST_F(Levels, MixesAreOfTheRightHeads) {
  const auto cell = [&](HeadMix mix) {
    view.mix = mix;
    ui.frames(2, draw);
    return view.map.map.at(10, 1);
  };
  float sum = 0;
  float largest = 0;
  for (int head = 0; head < 4; ++head) {
    sum += map(1, head).at(10, 1);
    largest = std::max(largest, map(1, head).at(10, 1));
  }
  EXPECT_EQ(cell(HeadMix::one), map(1, 0).at(10, 1));
  EXPECT_NEAR(cell(HeadMix::layer_mean), sum / 4, 1e-6);
  EXPECT_EQ(cell(HeadMix::layer_max), largest);
  EXPECT_THAT(view.map.entropies, IsEmpty());  // its rows are no distributions
  EXPECT_GE(cell(HeadMix::part_max), largest);
  cell(HeadMix::rollout);
  for (int row = 0; row < view.map.map.rows; ++row) {
    const auto begin = view.map.map.values.begin() + static_cast<std::ptrdiff_t>(row) * view.map.map.cols;
    EXPECT_NEAR(std::accumulate(begin, begin + view.map.map.cols, 0.0F), 1, 1e-5);
  }
}

TEST_F(Levels, WhatMakesNoSenseIsRefusedWithItsReason) {
  view.part = AttentionPart::cross;
  view.mix = HeadMix::rollout;
  ui.frames(2, draw);
  EXPECT_EQ(view.map.choice.mix, HeadMix::one);
  const Snapshot& whole = *scope.a.complete.snapshot;
  EXPECT_NE(std::string(refusal(HeadMix::rollout, view.choice(), whole)).find("cross-attention"), std::string::npos);
  EXPECT_TRUE(refusal(HeadMix::difference, view.choice(), whole));
  EXPECT_TRUE(refusal(HeadMix::together_mean, view.choice(), whole));
  EXPECT_FALSE(refusal(HeadMix::layer_mean, view.choice(), whole));
  view.part = AttentionPart::decoder;
  ui.frames(2, draw);
  EXPECT_EQ(view.map.choice.mix, HeadMix::rollout);  // wanted still
}

TEST_F(Levels, SeveralHeadsHaveTheirColoursAndTheirMean) {
  toggle_together(view, encoder_place(1, 2));
  ui.frames(2, draw);
  EXPECT_THAT(view.map.lines, SizeIs(2));
  EXPECT_TRUE(ui.drew("L2 H1"));
  EXPECT_TRUE(ui.drew("L2 H3"));
  view.mix = HeadMix::together_mean;
  ui.frames(2, draw);
  EXPECT_NEAR(view.map.map.at(3, 3), (map(1, 0).at(3, 3) + map(1, 2).at(3, 3)) / 2, 1e-6);
  click("L2 H3");  // its chip
  EXPECT_THAT(view.together, IsEmpty());
}

TEST_F(Levels, AnotherSnapshotAndAnotherHeadMakeTheMapAnewAndNothingElse) {
  const std::uint64_t stamp = view.map.stamp;
  ui.frames(5, draw);
  EXPECT_EQ(view.map.stamp, stamp);
  ui.key(Key::right, draw);
  EXPECT_EQ(view.map.stamp, stamp + 1);
  show(animal_snapshot(2));
  EXPECT_EQ(view.map.stamp, stamp + 2);
}

TEST_F(Levels, WordsMergePiecesAndKeepTheSelection) {
  auto cut = animal_snapshot(2);
  cut->source[1].text = "▁ani";
  cut->source[2].text = "mal";
  cut->source[3].text = "▁not";
  show(cut);
  EXPECT_EQ(view.map.map.cols, 16);
  view.pinned_row = 2;
  click("Words");
  EXPECT_TRUE(view.words);
  EXPECT_EQ(view.map.map.cols, static_cast<int>(spaced_words_of(cut->source).size()));
  EXPECT_TRUE(ui.drew("animal attends to"));
  EXPECT_NEAR(view.map.map.at(1, 1),
              (map(1, 0).at(1, 1) + map(1, 0).at(1, 2) + map(1, 0).at(2, 1) + map(1, 0).at(2, 2)) / 2, 1e-6);
  for (const float entropy : view.map.entropies) EXPECT_GT(entropy, 0);
  click("Words");
  EXPECT_EQ(view.pinned_row, 2);
  EXPECT_EQ(view.map.map.cols, 16);
}

TEST_F(Levels, MarginsAreBarsThatCanBeSwitchedOff) {
  ASSERT_THAT(view.map.received, SizeIs(16));
  EXPECT_NEAR(std::accumulate(view.map.received.begin(), view.map.received.end(), 0.0F), 1, 1e-5);
  EXPECT_NEAR(view.map.entropies[3], row_entropies(map(1, 0))[3], 1e-6);
  EXPECT_TRUE(ui.drew("received"));
  click("Margins");
  EXPECT_FALSE(view.margins);
  EXPECT_FALSE(ui.drew("received"));
}

TEST_F(Levels, ADifferenceIsOfferedWhileSomethingIsChanged) {
  auto changed = animal_snapshot(2);
  changed->untouched = animal_snapshot(2);
  changed->encoder[1][0].at(10, 1) += 0.25F;
  changed->encoder[1][0].at(10, 2) -= 0.125F;
  const float untouched = changed->untouched->encoder[1][0].at(10, 1);
  show(changed);
  choose("with interventions");
  EXPECT_EQ(view.map.choice.mix, HeadMix::difference);
  EXPECT_NEAR(view.map.map.at(10, 1), 0.25F, 1e-6);
  EXPECT_NEAR(view.map.map.at(10, 2), -0.125F, 1e-6);
  EXPECT_EQ(view.map.map.at(3, 3), 0);
  EXPECT_NEAR(view.map.before.at(10, 1), untouched, 1e-6);
  ASSERT_THAT(view.map.lines, SizeIs(2));
  EXPECT_NEAR(view.map.lines[1].at(10, 2), 0.125F, 1e-6);
  EXPECT_TRUE(ui.drew("-0.12"));
  show(animal_snapshot(3));
  EXPECT_EQ(view.map.choice.mix, HeadMix::one);
}

TEST_F(Levels, ADifferenceOfOutputsOfOtherLengthsIsRefused) {
  auto changed = fixture_snapshot({5, 6, 2, 4}, 2);
  changed->untouched = fixture_snapshot({5, 7, 2, 4}, 2);
  show(changed);
  view.mix = HeadMix::difference;
  select(view, {AttentionPart::cross, 0, 0});
  ui.frames(2, draw);
  EXPECT_EQ(view.map.choice.mix, HeadMix::one);
  EXPECT_NE(std::string(refusal(HeadMix::difference, view.choice(), *changed)).find("another length"),
            std::string::npos);
  select(view, encoder_place(0, 0));
  ui.frames(2, draw);
  EXPECT_EQ(view.map.choice.mix, HeadMix::difference);
}

TEST_F(Levels, FullContrastGoesToTheLargestWeight) {
  const int uploads = ui.textures.uploads;
  click("Full contrast");
  EXPECT_TRUE(view.full_contrast);
  EXPECT_EQ(brightest(view, encoder_place(1, 0)), *std::ranges::max_element(map(1, 0).values));
  EXPECT_GT(ui.textures.uploads, uploads);
}

// ---- hostile sizes

TEST_F(Levels, OneTokenOneHead) {
  show(fixture_snapshot({1, 1, 1, 1}, 2));
  for (const AttentionLevel level : {AttentionLevel::model, AttentionLevel::head}) {
    view.level = level;
    for (const HeadMix mix : {HeadMix::one, HeadMix::layer_max, HeadMix::rollout, HeadMix::difference}) {
      for (const bool words : {false, true}) {
        view.mix = mix;
        view.words = words;
        ui.frames(2, draw);
        EXPECT_GT(ui.vertices(), 100);
      }
    }
    for (const HeadOrder order : {HeadOrder::entropy, HeadOrder::distance, HeadOrder::attention}) {
      view.order = order;
      ui.frames(2, draw);
    }
  }
}

class HugeLevels : public Levels {
 protected:
  static constexpr int length = 512;
  HugeLevels() {
    // 12 layers × 16 heads of the encoder; one head each of the others, to keep the test small.
    auto huge = fixture_snapshot({length, 2, 1, 1}, 2);
    const Matrix one = huge->encoder[0][0];
    huge->encoder.assign(12, std::vector<Matrix>(16, one));
    show(huge);
  }
};

TEST_F(HugeLevels, ThumbnailsAreSmallTexturesSentOnce) {
  view.level = AttentionLevel::model;
  ui.frames(3, draw);
  for (const auto& [key, picture] : ui.textures.pictures) {
    if (picture.height == length) continue;  // the large one of the other level
    EXPECT_LE(picture.width, 128);
    EXPECT_LE(picture.height, 128);
  }
  const int uploads = ui.textures.uploads;
  EXPECT_GT(uploads, 100);
  ui.frames(5, draw);
  EXPECT_EQ(ui.textures.uploads, uploads);
  EXPECT_LT(ui.vertices(), 30000);
}

TEST_F(HugeLevels, AFrameMeasuresAFewHeadsUntilAllAreMeasured) {
  show(std::make_shared<Snapshot>(snapshot()));  // the same maps, in a newer snapshot
  view.measures = {};
  ui.frame(draw);
  const std::uint64_t first = view.measures.changes;
  EXPECT_GE(first, 1U);
  EXPECT_LE(first, 3U);
  EXPECT_TRUE(is_measuring(scope.views));
  EXPECT_TRUE(animating(scope));
  ui.frames(220, draw);
  EXPECT_EQ(view.measures.changes, 12U * 16 + 2);
  EXPECT_FALSE(is_measuring(scope.views));
  ui.frames(3, draw);
  EXPECT_EQ(view.measures.changes, 12U * 16 + 2);
}

TEST_F(HugeLevels, TheMatrixThinsItsLabelsAndNamesTheCellUnderTheMouse) {
  view.picture = HeadPicture::matrix;
  ui.frames(2, draw);
  EXPECT_LT(ui.vertices(), 40000);
  const auto corner = ui.find_text("received");
  ASSERT_TRUE(corner);
  ui.move({corner->x + 250, corner->y - 200}, draw);
  ui.frames(3, draw);
  ASSERT_GE(view.pointed_row, 0);
  const std::string query = snapshot().source[static_cast<std::size_t>(view.pointed_row)].text;
  const std::string key = snapshot().source[static_cast<std::size_t>(view.pointed_col)].text;
  // Beside the matrix, and in the tooltip; the test's font has no ▁.
  EXPECT_TRUE(ui.find_text(query.substr(3), 1)) << query;
  EXPECT_TRUE(ui.drew(key.substr(3))) << key;
  EXPECT_TRUE(ui.drew(fmt::format("{:.6g}", map(1, 0).at(view.pointed_row, view.pointed_col))));
  for (int i = 0; i < 40; ++i) ui.wheel({corner->x + 250, corner->y - 200}, 1, draw);
  EXPECT_GT(view.zoom.scale, 20);
  EXPECT_EQ(snapshot().source[static_cast<std::size_t>(view.pointed_row)].text, query);
  EXPECT_LT(ui.vertices(), 40000);
}

TEST_F(HugeLevels, LinesAndListsStayDrawable) {
  for (const HeadPicture picture : {HeadPicture::lines, HeadPicture::both}) {
    view.picture = picture;
    ui.frames(3, draw);
    EXPECT_LT(ui.vertices(), 80000);
  }
  for (int head = 1; head < 16; ++head) toggle_together(view, encoder_place(1, head));
  ui.frames(3, draw);
  EXPECT_LT(ui.vertices(), 80000);
}

}  // namespace
}  // namespace attnscope
