// The first launch: one head and one word in large letters, and the densities of the window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"
#include "workspaces/attention/view.h"
#include "workspaces/glance.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

// All of row `from` of a map goes to `to`.
void set_attention(Matrix& map, int from, int to) {
  for (int col = 0; col < map.cols; ++col) map.at(from, col) = col == to ? 1 : 0;
}

constexpr int animal = 1, street = 8, it = 10;      // pieces of the source
constexpr int animal_written = 2, il_written = 13;  // and of the output

class GlanceWindow : public testing::Test {
 protected:
  GlanceWindow() {
    scope.layout = first_layout();
    auto snapshot = animal_snapshot();
    set_attention(snapshot->encoder.back()[2], it, animal);
    for (auto& layer : snapshot->cross)
      for (Matrix& head : layer) {
        set_attention(head, animal_written, animal);
        set_attention(head, il_written, it);
      }
    receive(scope, {fixture_run(20)}, snapshot);
    ui.frames(3, draw);
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(GlanceWindow, SaysWhereItLooksAndWhatWasWrittenOfBoth) {
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 1, 2}));
  const std::string drawn = ui.drawn_text();  // the built-in font has no “ and ”
  EXPECT_THAT(drawn, HasSubstr("?it?attendsmostto?animal?(apartfromitself):weight1.00."));
  EXPECT_THAT(drawn, HasSubstr("?it?wasattendedtomostwhen?il?wasgenerated."));
  EXPECT_THAT(drawn, HasSubstr("?animal?wasattendedtomostwhen?animal?wasgenerated."));
  EXPECT_THAT(drawn, HasSubstr("didn't")) << "set as it is read";
  EXPECT_FALSE(ui.drew("Corpus")) << "neither setup …";
  EXPECT_FALSE(ui.drew("Learning rate")) << "… nor curves";
}

TEST_F(GlanceWindow, WhatWasWrittenStandsAsInTheText) {
  auto snapshot = animal_snapshot(2);
  set_attention(snapshot->encoder.back()[2], it, animal);
  for (auto& layer : snapshot->cross)
    for (Matrix& head : layer) {
      for (int row = 0; row < head.rows; ++row) set_attention(head, row, street);
      for (const int row : {il_written - 2, il_written}) set_attention(head, row, it);
      for (const int row : {0, animal_written}) set_attention(head, row, animal);
    }
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  const std::string drawn = ui.drawn_text();
  EXPECT_THAT(drawn, HasSubstr("?it?wasattendedtomostwhen?qu'il?wasgenerated."))
      << "the sign between two words with them";
  EXPECT_THAT(drawn, HasSubstr("?animal?wasattendedtomostwhen?L'animal?wasgenerated."));

  for (auto& layer : snapshot->cross)
    for (Matrix& head : layer) {
      set_attention(head, animal_written, street);
      set_attention(head, il_written + 1, animal);
    }
  auto apart = std::make_shared<Snapshot>(*snapshot);
  apart->request = 3;
  receive(scope, {}, apart);
  ui.frames(2, draw);
  EXPECT_THAT(ui.drawn_text(), HasSubstr("?animal?wasattendedtomostwhen?L?était?wasgenerated."))
      << "others stand between";
}

TEST_F(GlanceWindow, TheInvitationChangesTheWord) {
  ASSERT_TRUE(ui.click_text("Change ?", draw));
  EXPECT_EQ(scope.layout.sentence, "The animal didn't cross the street because it was too wide.");
  EXPECT_EQ(scope.asked.text, scope.layout.sentence);
}

TEST_F(GlanceWindow, AHintSaysThatTheSentenceCanBeEditedUntilItIs) {
  EXPECT_TRUE(ui.drew("Change a word: everything below follows"));
  const ImVec2 tab = *ui.find_text("Glance");
  set_sentence(scope, "The animal was tired.");
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Change a word: everything below follows"));
  EXPECT_EQ(ui.find_text("Glance")->y, tab.y) << "nothing moves";
  EXPECT_TRUE(layout_from_json(layout_to_json(scope.layout)).layout.sentence_edited);
  EXPECT_FALSE(layout_from_json(layout_to_json(first_layout())).layout.sentence_edited);
}

TEST_F(GlanceWindow, ItSaysWhatTheModelKnowsAndOffersASentenceOfItsCorpus) {
  auto snapshot = animal_snapshot(2);
  snapshot->known_words = 310;
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("was trained on 48 213 sentence pairs; it knows 310 words."));

  auto foreign = animal_snapshot(3);
  for (int i = 0; i < 15; ++i) foreign->unseen.push_back({i, i + 1, foreign->source[i].text, {}});
  receive(scope, {}, foreign);
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Use a sentence of the corpus", draw));
  EXPECT_EQ(scope.layout.sentence, "The cat sleeps.");
}

TEST(GlanceOfStates, AChangeIsRelativeToTheLengths) {
  RecurrentStates states;
  states.first_h = Matrix(1, 2);
  states.h = Matrix(3, 2);
  for (const auto& [row, x, y] : {std::tuple{0, 3.0F, 4.0F}, {1, 3.0F, 4.0F}, {2, -3.0F, -4.0F}}) {
    states.h.at(row, 0) = x;
    states.h.at(row, 1) = y;
  }
  EXPECT_THAT(state_changes(states, {{"a", 0, 1}, {"b", 1, 2}, {"c", 2, 3}, {"bc", 1, 3}}),
              testing::ElementsAre(1, 0, 1, 1));
}

TEST_F(GlanceWindow, AWordThatIsClickedStaysAndKeysMoveOn) {
  const auto in_picture = ui.find_text("street", 1);
  ASSERT_TRUE(in_picture);
  ui.click(*in_picture, draw);
  EXPECT_EQ(attention.pinned_row, street);
  ui.move({2, 2}, draw);
  EXPECT_THAT(ui.drawn_text(), HasSubstr("?street?attendsmostto"));
  ui.key(Key::right, draw);
  EXPECT_EQ(attention.pinned_row, street + 1);
  ui.key(Key::up, draw);
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 1, 1}));
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 0, 0})) << "after the last head the first";
}

TEST_F(GlanceWindow, ArrowsOnBothSidesOfTheTitleGoToTheHeadsBesideIt) {
  const std::string title = "Attention of each word: " + title_of(attention.place(), ModelConfig());
  const auto middle = ui.find_text(title);
  ASSERT_TRUE(middle);
  const float aside = text_size(ui.skin.fonts.ui, title).x / 2 + 18;
  ui.click({middle->x + aside, middle->y}, draw);
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 1, 3}));
  ui.click({middle->x - aside, middle->y}, draw);
  EXPECT_EQ(attention.place(), (HeadPlace{AttentionPart::encoder, 1, 2}));
}

TEST_F(GlanceWindow, EveryKindOfModelShowsWhatItHas) {
  std::uint64_t request = 1;
  for (const ModelConfig& model : fixture_models()) {
    receive(scope, {}, snapshot_of_model(model, ++request));
    ui.frames(2, draw);
    EXPECT_TRUE(ui.drew(model.is_recurrent() ? "Change of the encoder's state" : "Attention of each word: "))
        << model.architecture << " " << model.positions;
    EXPECT_EQ(ui.drew("Most probable after"), model.is_language_model());
    EXPECT_EQ(ui.drew("Most probable at"), model.fills_masks());
    EXPECT_EQ(ui.drew("Most probable labels"), model.is_classifier());
  }
}

TEST_F(GlanceWindow, AWordWithoutPieceIsTold) {
  auto snapshot = animal_snapshot(2);
  snapshot->source[street].unknown = true;
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  const auto in_picture = ui.find_text("street", 1);
  ASSERT_TRUE(in_picture);
  ui.move(*in_picture, draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("the model reads <unk>"));
}

TEST_F(GlanceWindow, AWordThatTrainingNeverSawIsToldAndTheNearestOffered) {
  auto snapshot = animal_snapshot(2);
  snapshot->unseen = {{street, street + 1, "street", {"straight", "strait"}}};
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  const auto in_picture = ui.find_text("street", 1);
  ASSERT_TRUE(in_picture);
  ui.move(*in_picture, draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("is not in the training data"));
  EXPECT_TRUE(ui.drew("Other words of the data: straight, strait"));
  ASSERT_TRUE(ui.click_text("Change ?", draw));
  EXPECT_EQ(scope.layout.sentence, "The animal didn't cross the straight because it was too tired.");
}

TEST_F(GlanceWindow, AWordThatTrainingNeverSawIsToldBesideThePieces) {
  set_density(scope.layout, Density::standard);
  auto snapshot = animal_snapshot(2);
  snapshot->unseen = {{animal, animal + 1, "animal", {}}};
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("not in the training data: animal"));
  EXPECT_FALSE(ui.drew("straight")) << "nothing is near";

  auto with = animal_snapshot(3);
  with->unseen = {{animal, animal + 1, "animal", {}}, {street, street + 1, "street", {"straight"}}};
  receive(scope, {}, with);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("not in the training data: street"));
  ASSERT_TRUE(ui.click_text("straight", draw));
  EXPECT_EQ(scope.layout.sentence, "The animal didn't cross the straight because it was too tired.");
}

TEST_F(GlanceWindow, ALongSentenceLeavesNoWordOut) {
  auto snapshot = fixture_snapshot({120, 90, 2, 4}, 2);
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_EQ(scope.views.of<GlanceView>().made.text.words.size(), 120U);
  ui.wheel({640, 400}, -500, draw);
  EXPECT_TRUE(ui.drew("attends most to")) << "scrolled to";
}

TEST(TellingExchange, IsOfAWholeWord) {
  EXPECT_EQ(suggested_change("It was too wide.")->sentence, "It was too tired.");
  EXPECT_EQ(suggested_change("because it was tired")->to, "wide");
  EXPECT_FALSE(suggested_change("The tired man sat with his kit.")) << "no pronoun would refer to something else";
  EXPECT_FALSE(suggested_change("He retired; a widely read man."));
  EXPECT_FALSE(suggested_change(""));
}

// ---- how much stands in the window

TEST_F(GlanceWindow, ADensityBringsItsColumnsAndSettings) {
  set_density(scope.layout, Density::standard);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Corpus"));
  EXPECT_TRUE(ui.drew("Loss"));
  EXPECT_FALSE(ui.drew("Held-out split")) << "not among the first to be changed";
  ASSERT_TRUE(ui.click_text("All settings", draw));
  EXPECT_TRUE(ui.drew("Held-out split")) << "of the corpus";
  EXPECT_FALSE(ui.drew("Tokenizer type")) << "of another section";
  ASSERT_TRUE(ui.click_text("Fewer settings", draw));
  EXPECT_FALSE(ui.drew("Held-out split"));
  set_density(scope.layout, Density::everything);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Held-out split"));
}

TEST_F(GlanceWindow, ASettingThatIsAskedForIsThere) {
  show_field(scope, "training.clip_norm");
  ui.frames(3, draw);
  EXPECT_TRUE(scope.all_settings["training"]) << "but not the other sections";
  EXPECT_FALSE(ui.drew("Held-out split"));
  EXPECT_TRUE(scope.layout.setup_open);
  EXPECT_TRUE(scope.field_to_show.empty());
  const ConfigField& field = config_field("training.clip_norm");
  EXPECT_TRUE(ui.drew(field.label)) << "scrolled to";
}

}  // namespace
}  // namespace attnscope
