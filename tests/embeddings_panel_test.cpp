// The embeddings workspace: what is drawn of a look, and what mouse, keys and words ask of the model.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "analysis/matrix_algebra.h"
#include "embeddings_fixture.h"
#include "posted.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "widgets/scatter.h"
#include "workspaces/embeddings/modes.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class EmbeddingsPanel : public testing::Test {
 protected:
  EmbeddingsPanel() {
    scope.layout.workspace = find_workspace("embeddings");
    scope.layout.setup_open = scope.layout.curves_open = false;
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
    scope.timeline.focused = false;
  }

  void show(std::shared_ptr<const EmbeddingResult> inspection, std::shared_ptr<const SenseResult> senses = nullptr) {
    auto snapshot = fixture_snapshot({}, ++request);
    snapshot->embeddings = std::move(inspection);
    snapshot->senses = std::move(senses);
    receive(scope, {}, snapshot);
    scope.commands.clear();
    ui.frames(3, draw);
  }

  // Opens the view of the senses of "bank", whose sentences all have the same vector in the only layer.
  std::shared_ptr<SenseResult> senses_at_one_point() {
    view.mode = EmbeddingsMode::senses;
    view.senses.word = "bank";
    auto senses = fixture_senses();
    senses->layers.resize(1);
    senses->layers[0].points = Matrix(senses->layers[0].points.rows, 2);
    return senses;
  }

  std::uint64_t request = 0;
  AppState scope;
  EmbeddingsView& view = scope.views.of<EmbeddingsView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(EmbeddingsPanel, ShowsTheKingHisNeighboursAndTheAnalogyFirst) {
  show(fixture_embeddings());
  ASSERT_TRUE(scope.asked.embeddings);
  EXPECT_EQ(scope.asked.embeddings->chosen, "king");
  EXPECT_THAT(scope.asked.embeddings->analogy, ElementsAre("man", "king", "woman"));
  for (const char* text :
       {"king", "0.875", "0.500", "neighbors by cosine", "0.750", "axis 1:", "masculine in French", "unlabeled"})
    EXPECT_TRUE(ui.drew(text)) << text;
}

TEST_F(EmbeddingsPanel, AnyOfSeveralMatricesIsChosen) {
  scope.a.run.config.model.tied_embeddings = false;
  auto snapshot = fixture_snapshot({}, ++request);
  snapshot->model.tied_embeddings = false;
  snapshot->embeddings = fixture_embeddings();
  receive(scope, {}, snapshot);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("source embedding", draw)) << ui.drawn_text();
  ui.frames(2, draw);
  const auto shown = ui.find_text("source embedding", 1), other = ui.find_text("target embedding");
  ASSERT_TRUE(shown && other);
  EXPECT_TRUE(ui.filled(*shown, ImGui::GetColorU32(ImGuiCol_Header)));
  EXPECT_FALSE(ui.filled(*other, ImGui::GetColorU32(ImGuiCol_Header)));
  ASSERT_TRUE(ui.click_text("target embedding", draw));
  EXPECT_EQ(view.wanted.matrix, EmbeddingMatrix::target);
}

TEST_F(EmbeddingsPanel, WithoutLookOrMapItSaysWhy) {
  show(nullptr);
  EXPECT_TRUE(ui.drew("Reading the embeddings"));
  EXPECT_FALSE(embedding_numbers(scope.views));
  auto broken = fixture_embeddings();
  broken->map = nullptr;
  broken->problem = "The embedding matrix at step 7 contains numbers that are not finite.";
  show(broken);
  EXPECT_TRUE(ui.drew("not finite"));
  EXPECT_FALSE(embedding_numbers(scope.views)) << "there is nothing to copy";
  auto unknown = fixture_embeddings();
  unknown->chosen = -1;
  unknown->neighbours = {};
  unknown->chosen_problem = "The vocabulary has no token \"qwerty\".";
  show(unknown);
  EXPECT_TRUE(ui.drew("has no token"));
}

TEST_F(EmbeddingsPanel, AClickOnANeighbourChoosesIt) {
  show(fixture_embeddings());
  ASSERT_TRUE(ui.click_text("0.500", draw));
  EXPECT_EQ(view.wanted.chosen, "man");
  EXPECT_EQ(posted<Probe>(scope).back().embeddings->chosen, "man");
}

TEST_F(EmbeddingsPanel, KeysGoToTheNearestPieceAndToTheNextView) {
  show(fixture_embeddings());
  ui.key(Key::down, draw);
  EXPECT_EQ(view.wanted.chosen, "queen");
  ui.key(Key::page_down, draw);
  EXPECT_EQ(view.mode, EmbeddingsMode::senses);
  EXPECT_FALSE(scope.asked.embeddings);
  EXPECT_EQ(scope.asked.senses, "it");
  ui.key(Key::page_up, draw);
  EXPECT_EQ(view.mode, EmbeddingsMode::map);
  ui.key(Key::enter, draw);
  ui.type("wom", draw);
  EXPECT_EQ(view.search, "wom");
  EXPECT_THAT(view.matches, ElementsAre(3));
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.wanted.chosen, "woman");
}

TEST_F(EmbeddingsPanel, APointOfTheMapIsPointedAtAndChosen) {
  show(fixture_embeddings(8));
  // Its label stands right or left of it, above or below.
  bool chosen = false;
  for (const ImVec2 by :
       {ImVec2(-22, 0), ImVec2(22, 0), ImVec2(0, 13), ImVec2(0, -13), ImVec2(-32, 0), ImVec2(32, 0)}) {
    const auto label = ui.find_text("word7");
    ASSERT_TRUE(label);
    ui.click({label->x + by.x, label->y + by.y}, draw);
    chosen |= view.wanted.chosen == "word7";
  }
  EXPECT_TRUE(chosen);
}

TEST_F(EmbeddingsPanel, ThreeClicksMakeAnAnalogy) {
  show(fixture_embeddings());
  ASSERT_TRUE(ui.click_text("Pick on the map", draw));
  EXPECT_EQ(view.slot, 0);
  for (const int id : {3, 1, 2}) click_token(view, id);
  EXPECT_THAT(view.wanted.analogy, ElementsAre("woman", "queen", "man"));
  EXPECT_EQ(view.slot, -1);
  click_token(view, 5);
  EXPECT_EQ(view.wanted.chosen, "word5");
}

TEST_F(EmbeddingsPanel, AtARecordedStepTheEmbeddingsOfThatStepAreAsked) {
  show(fixture_embeddings());
  auto past = fixture_snapshot({}, 0);
  past->step = 400;
  scope.a.past = {past, 99};
  EXPECT_EQ(wanted_probe(scope).embeddings->step, 400);
  scope.a.past = {};
  EXPECT_EQ(wanted_probe(scope).embeddings->step, -1);
}

TEST_F(EmbeddingsPanel, AnEarlierListStandsBesideThePresentOne) {
  auto inspection = fixture_embeddings();
  inspection->recorded_steps = {0, 400, 800};
  inspection->earlier = {400, {{9, 0.125F}}};
  show(inspection);
  EXPECT_TRUE(ui.drew("step 400"));
  EXPECT_TRUE(ui.drew("word9"));
  EXPECT_TRUE(ui.drew("0.125"));
}

TEST_F(EmbeddingsPanel, TsneIsAStudyWhoseMapIsShownWhenItEnds) {
  show(fixture_embeddings());
  ASSERT_TRUE(ui.click_text("t-SNE", draw));
  EXPECT_TRUE(ui.drew("It takes some seconds and runs in the background"));
  ASSERT_TRUE(ui.click_text("Compute t-SNE", draw));
  ASSERT_EQ(posted<StartStudy>(scope).size(), 1U);
  const auto asked = posted<StartStudy>(scope).front();
  EXPECT_EQ(std::get<TsneStudy>(asked.question).perplexity, 30);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Computing t-SNE of the tokens"));
  TsneMap map{.ids = {0, 1, 5}, .points = Matrix(3, 2), .first_kl = 3, .kl = 1.25F};
  map.points.values = {0, 0, 1, 1, 2, 0};
  receive(scope, {StudyEnded{asked.study, std::make_shared<const StudyResult>(StudyResult{1, 20, map})}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("KL 1.25 nats"));
  EXPECT_TRUE(ui.drew("word5"));
  EXPECT_FALSE(ui.drew("axis 1:"));
  EXPECT_THAT(scope.toasts.back().message.text, HasSubstr("KL 3.00 → 1.25 nats"));
  ASSERT_TRUE(ui.click_text("PCA", draw));
  EXPECT_TRUE(ui.drew("axis 1:"));
}

TEST_F(EmbeddingsPanel, ThirtyThousandPiecesAreOneMap) {
  ui.io().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as the window's: more than 65 536 corners
  show(fixture_embeddings(30'000));
  EXPECT_GT(ui.vertices(), 100'000);
  EXPECT_TRUE(ui.drew("king"));
}

TEST_F(EmbeddingsPanel, WhereTheDriverCountsNoFurtherSomePiecesAreLeftOut) {
  show(fixture_embeddings(30'000));
  EXPECT_GT(ui.vertices(), 40'000);
  EXPECT_LT(ui.vertices(), 80'000);
  EXPECT_TRUE(ui.drew("king"));
}

TEST_F(EmbeddingsPanel, AnotherRunBringsOtherPieces) {
  show(fixture_embeddings());
  view.wanted.chosen = "word50";
  auto other = fixture_snapshot({}, ++request);
  other->run = 2;
  other->embeddings = fixture_embeddings(8);
  receive(scope, {}, other);
  ui.frames(3, draw);
  EXPECT_EQ(view.points.now.size(), 8U);
  EXPECT_EQ(view.wanted.chosen, "king");
}

TEST_F(EmbeddingsPanel, OneHotStandsBesideLearned) {
  view.mode = EmbeddingsMode::distances;
  show(fixture_embeddings());
  for (const char* text : {"One-hot", "Learned", "queen", "1.25", "one-hot: all"}) EXPECT_TRUE(ui.drew(text)) << text;
}

TEST_F(EmbeddingsPanel, SensesAreLayersWithTheirSeparation) {
  view.mode = EmbeddingsMode::senses;
  show(nullptr, nullptr);
  EXPECT_TRUE(ui.drew("Searching the corpus"));
  view.senses.word = "bank";
  show(nullptr, fixture_senses());
  for (const char* text :
       {"embedding + position", "layer 2", "separation 0.000", "separation 0.750", "banque (20)", "40 sentences"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_TRUE(ui.drew("axis 1: 60 %"));
  EXPECT_FALSE(ui.drew("all at one point"));
  ASSERT_TRUE(ui.click_text("bat", draw));
  EXPECT_EQ(posted<Probe>(scope).back().senses, "bat");
  EXPECT_TRUE(ui.drew("Searching the corpus")) << "the answer is of another word";
  auto none = std::make_shared<SenseResult>();
  none->word = "bat";
  none->problem = "The corpus has no sentence with \"bat\".";
  show(nullptr, none);
  EXPECT_TRUE(ui.drew("no sentence"));
}

TEST_F(EmbeddingsPanel, APointOfTheSensesTellsItsSentenceAndItsGroup) {
  const auto senses = senses_at_one_point();
  for (int i = 2; i < senses->layers[0].points.rows; ++i) senses->layers[0].points.at(i, 0) = 1;
  show(nullptr, senses);
  for (float x = 20; x < 400 && !ui.drew("Phrase"); x += 6)
    for (float y = 200; y < 600 && !ui.drew("Phrase"); y += 6) ui.move({x, y}, draw);
  EXPECT_TRUE(ui.drew("banque Sentence 0. Phrase 0.") || ui.drew("rive Sentence 1. Phrase 1.")) << ui.drawn_text();
}

// Without positions added to the embeddings, a word has the same vector in every sentence before the first layer.
TEST_F(EmbeddingsPanel, OfOneVectorNoShareOfVarianceIsNamed) {
  const auto senses = senses_at_one_point();
  senses->layers[0].shares = {0, 0};
  show(nullptr, senses);
  EXPECT_TRUE(ui.drew("all at one point"));
  EXPECT_FALSE(ui.drew("axis"));
}

TEST_F(EmbeddingsPanel, NumbersAreWhatIsShown) {
  show(fixture_embeddings(5));
  copy_numbers(scope);
  std::string csv = ImGui::GetClipboardText();
  EXPECT_THAT(csv, HasSubstr(",x,y\n▁king,0,0\n"));
  view.mode = EmbeddingsMode::distances;
  copy_numbers(scope);
  EXPECT_THAT(std::string(ImGui::GetClipboardText()), HasSubstr("king,1.25,1.25"));
  view.mode = EmbeddingsMode::senses;
  show(fixture_embeddings(5), fixture_senses("it"));
  copy_numbers(scope);
  EXPECT_THAT(std::string(ImGui::GetClipboardText()), HasSubstr("banque: Sentence 0."));
}

// ---- points on their way

TEST(MovingPoints, AreTurnedOntoWhereTheyStood) {
  const auto inspection = fixture_embeddings(40);
  const Matrix& points = inspection->map->points;
  MovingPoints moving;
  moving.go_to(points, 10);
  EXPECT_FALSE(moving.are_moving()) << "nothing stood anywhere";
  Matrix turn(2, 2);
  turn.values = {0, 1, 1, 0};  // the axes have changed places
  moving.go_to(product(points, turn), 11);
  moving.advance(20);
  EXPECT_FALSE(moving.are_moving());
  for (int id = 0; id < 40; ++id) {
    EXPECT_NEAR(moving.now[static_cast<std::size_t>(id)].x, points.at(id, 0), 1e-5);
    EXPECT_NEAR(moving.now[static_cast<std::size_t>(id)].y, points.at(id, 1), 1e-5);
  }
}

TEST(MovingPoints, GoToTheirPlaceInAWhile) {
  Matrix here(3, 2), there(3, 2);
  here.values = {1, 0, 0, 1, -1, -1};
  there.values = {3, 0, 0, 3, -3, -3};
  MovingPoints moving;
  moving.go_to(here, 0);
  moving.go_to(there, 1);
  moving.advance(1.2);
  EXPECT_NEAR(moving.now[0].x, 2, 0.01);
  EXPECT_TRUE(moving.are_moving());
  moving.advance(2);
  EXPECT_NEAR(moving.now[0].x, 3, 1e-5);
}

// ---- the picture of points

TEST(Scatter, ShowsAllPointsAndZoomsAtTheMouse) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<ImVec2> points = {{-1, 0}, {3, 1}, {none, none}};
  const ScatterWindow window = fitted_window(points, {500, 400}, 50);
  EXPECT_FLOAT_EQ(window.center.x, 1);
  EXPECT_FLOAT_EQ(window.scale, 100);
  const ScatterFrame frame{{0, 0}, {500, 400}, window};
  EXPECT_FLOAT_EQ(frame.at({3, 1}).x, 450);
  EXPECT_FLOAT_EQ(frame.at({3, 1}).y, 150) << "y points up";
  const ScatterFrame closer{{0, 0}, {500, 400}, zoomed(window, {200, -50}, 4)};
  EXPECT_NEAR(closer.at({3, 1}).x, 450, 1e-3);
  EXPECT_NEAR(closer.at({3, 1}).y, 150, 1e-3);
  EXPECT_FLOAT_EQ(fitted_window({}, {500, 400}, 50).scale, 1);
}

TEST(LabelPlaces, NeverOverlapNorLeaveTheArea) {
  LabelPlaces places({0, 0}, {100, 40});
  std::vector<ImVec2> corners;
  for (int i = 0; i < 40; ++i)
    if (const auto corner = places.place({50, 20}, 4, {30, 6})) corners.push_back(*corner);
  EXPECT_EQ(corners.size(), 4U) << "right, left, above and below";
  EXPECT_FALSE(places.place({99, 39}, 4, {200, 10}));
}

TEST(PieceName, IsReadAndTyped) {
  Vocabulary vocabulary;
  vocabulary.tokens = {"<s>", "▁", "▁s", "s", "▁king", ".", "+"};
  EXPECT_EQ(token_name("▁king"), "king");
  EXPECT_EQ(token_name("s"), "+s");
  EXPECT_EQ(token_name("."), ".");
  EXPECT_EQ(token_name("<s>"), "<s>");
  for (int id = 0; id < static_cast<int>(vocabulary.tokens.size()); ++id)
    EXPECT_EQ(find_token(vocabulary, name_of(vocabulary, id)), id);
  EXPECT_EQ(find_token(vocabulary, "queen"), -1);
}

}  // namespace
}  // namespace attnscope
