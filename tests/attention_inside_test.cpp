// One head from the inside: its stages, the arithmetic of every cell, painted masks, √d_k on and off; and the level of
// the sublayers.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "config/position_schemes.h"
#include "inside_fixture.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/inside_cards.h"
#include "workspaces/attention/inside_stages.h"
#include "workspaces/attention/levels.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

constexpr HeadPlace encoder_head{AttentionPart::encoder, 1, 2};
constexpr HeadPlace decoder_head{AttentionPart::decoder, 0, 1};
constexpr std::array all_stages = {Stage::q,      Stage::k,      Stage::products, Stage::bias,
                                   Stage::scores, Stage::masked, Stage::weights,  Stage::v,
                                   Stage::output, Stage::heads,  Stage::w_o,      Stage::sublayer};

std::shared_ptr<Snapshot> with_inside(const HeadPlace& place, std::string_view positions = "sinusoidal",
                                      FixtureSize size = {5, 6, 2, 4}) {
  auto snapshot = fixture_snapshot(size);
  snapshot->model.positions = positions;
  add_inside(*snapshot, place);
  return snapshot;
}

// The number after the last "= ".
double result_of(const std::string& text) {
  std::string number = text.substr(text.rfind("= ") + 2);
  const std::string minus = "\u2212";
  if (number.starts_with(minus)) number = "-" + number.substr(minus.size());
  return std::strtod(number.c_str(), nullptr);
}

class InsideNumbers : public testing::TestWithParam<PositionScheme> {
 protected:
  std::shared_ptr<Snapshot> snapshot = with_inside(decoder_head, GetParam().name);
  HeadNumbers numbers = head_numbers(snapshot, model_mask(*snapshot->inside));
  std::vector<std::string> labels = std::vector<std::string>(6, "\u2581it");
};

TEST_P(InsideNumbers, EveryCellsArithmeticEndsWithItsValue) {
  for (const Stage stage : all_stages) {
    const Matrix& matrix = numbers.of(stage);
    for (int row = 0; row < matrix.rows; ++row) {
      for (int col = 0; col < matrix.cols; ++col) {
        const std::string text = arithmetic(numbers, {stage, row, col}, {labels, labels});
        if (std::isnan(matrix.at(row, col))) {
          EXPECT_THAT(text, testing::HasSubstr("= \u2212\u221E")) << text;
          continue;
        }
        const double value = static_cast<double>(matrix.at(row, col));
        EXPECT_NEAR(result_of(text), value,
                    std::abs(value) >= 100 ? 0.051
                    : std::abs(value) >= 1 ? 0.0051
                                           : 0.00051)
            << text;
      }
    }
  }
}

TEST_P(InsideNumbers, TheTermsThatAreWrittenAddUpToTheResult) {
  const HeadInside& head = *snapshot->inside;
  const std::string text = arithmetic(numbers, {Stage::products, 3, 1}, {labels, labels});
  double sum = 0;
  for (int d = 0; d < 3; ++d) sum += static_cast<double>(head.q.at(3, d)) * static_cast<double>(head.k.at(1, d));
  const std::size_t more = text.find("5 more (");
  ASSERT_NE(more, std::string::npos) << text;
  const std::string rest = text.substr(more + 8, text.find(')', more) - more - 8);
  EXPECT_NEAR(sum + result_of("= " + rest), static_cast<double>(numbers.stages.products.at(3, 1)), 0.01);
}

TEST_P(InsideNumbers, WhatTellsTheOrderIsNamed) {
  const auto& [name, form] = std::pair(GetParam().name, GetParam().form);
  const std::string score = arithmetic(numbers, {Stage::scores, 2, 1}, {labels, labels});
  const std::string query = arithmetic(numbers, {Stage::q, 2, 1}, {labels, labels});
  for (const PositionScheme& scheme : position_schemes()) {
    if (scheme.label.empty()) continue;
    const bool own = scheme.name == name;
    EXPECT_EQ(score.find(scheme.label) != std::string::npos, own && form != PositionForm::rotation) << scheme.name;
    EXPECT_EQ(query.find(scheme.label) != std::string::npos, own && form == PositionForm::rotation) << scheme.name;
  }
  if (numbers.head().bias.empty()) return;
  const std::string bias = arithmetic(numbers, {Stage::bias, 2, 1}, {labels, labels});
  EXPECT_THAT(bias, testing::StartsWith(std::string(GetParam().label) + ": "));
  EXPECT_THAT(bias, testing::HasSubstr("distance -1"));
}

TEST_P(InsideNumbers, AHiddenCellHasNoWeightAndItsRowStillSumsToOne) {
  CellMask mask = model_mask(*snapshot->inside);
  mask.set(4, 1, true);
  mask.set(4, 3, true);
  const HeadNumbers painted = head_numbers(snapshot, mask);
  EXPECT_TRUE(painted.what_if);
  EXPECT_EQ(painted.stages.weights.at(4, 1), 0);
  EXPECT_EQ(painted.stages.weights.at(4, 3), 0);
  for (int row = 0; row < painted.stages.weights.rows; ++row) {
    float sum = 0;
    for (int col = 0; col < painted.stages.weights.cols; ++col) sum += painted.stages.weights.at(row, col);
    EXPECT_NEAR(sum, 1, 1e-5);
  }
  EXPECT_GT(painted.change[4], 0.01);
  for (const int row : {0, 1, 2, 3, 5}) EXPECT_NEAR(painted.change[static_cast<std::size_t>(row)], 0, 1e-5);
}

TEST_P(InsideNumbers, WithTheModelsMaskNothingHasChanged) {
  EXPECT_FALSE(numbers.what_if);
  EXPECT_THAT(numbers.change, testing::Each(0.0F));
  EXPECT_EQ(numbers.sublayer, snapshot->inside->output);
}

INSTANTIATE_TEST_SUITE_P(, InsideNumbers, testing::ValuesIn(position_schemes()), [](const auto& scheme) {
  std::string name(scheme.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(Linked, ACellIsMadeFromARowOfQAndARowOfK) {
  const StageCell score{Stage::weights, 3, 1};
  EXPECT_EQ(linked(score, Stage::q, 16, 8), (Linked{3, -1}));
  EXPECT_EQ(linked(score, Stage::k, 16, 8), (Linked{1, -1}));
  EXPECT_EQ(linked(score, Stage::products, 16, 8), (Linked{3, 1}));
  EXPECT_EQ(linked(score, Stage::v, 16, 8), (Linked{1, -1}));
  EXPECT_EQ(linked(score, Stage::output, 16, 8), (Linked{3, -1}));
  EXPECT_EQ(linked(score, Stage::w_o, 16, 8), (Linked{-1, -1}));
}

TEST(Linked, ANumberOfTheHeadIsOneOfThoseSideBySide) {
  EXPECT_EQ(linked({Stage::output, 3, 5}, Stage::heads, 16, 8), (Linked{3, 21}));
  EXPECT_EQ(linked({Stage::heads, 3, 21}, Stage::output, 16, 8), (Linked{3, 5}));
  EXPECT_EQ(linked({Stage::heads, 3, 4}, Stage::output, 16, 8), (Linked{3, -1})) << "another head's";
  EXPECT_EQ(linked({Stage::sublayer, 3, 9}, Stage::w_o, 16, 8), (Linked{-1, 9}));
}

TEST(HeadNumbers, ForcedRowsAndHeadsThatAreOffAreTakenIntoAccount) {
  auto snapshot = fixture_snapshot({5, 6, 2, 4});
  snapshot->interventions.forced = {{encoder_head, 2, 4}};
  add_inside(*snapshot, encoder_head);
  HeadNumbers numbers = head_numbers(snapshot, model_mask(*snapshot->inside));
  EXPECT_EQ(numbers.stages.weights.at(2, 4), 1);
  EXPECT_EQ(numbers.stages.weights.at(2, 0), 0);
  const std::vector<std::string> labels(5, "x");
  EXPECT_THAT(arithmetic(numbers, {Stage::weights, 2, 4}, {labels, labels}), testing::HasSubstr("forced"));
  snapshot->interventions.heads_off = {encoder_head};
  numbers = head_numbers(snapshot, model_mask(*snapshot->inside));
  EXPECT_THAT(numbers.stages.output.values, testing::Each(0.0F));
}

TEST(HeadNumbers, WithoutDividingTheScoresLieFartherApart) {
  const auto snapshot = with_inside(encoder_head);
  const HeadNumbers numbers = head_numbers(snapshot, model_mask(*snapshot->inside));
  EXPECT_LT(numbers.rescaled_spread.mean_entropy, numbers.spread.mean_entropy);
  EXPECT_LT(numbers.rescaled_spread.mean_gradient, numbers.spread.mean_gradient);
  int counted = 0;
  for (const int count : numbers.spread.histogram) counted += count;
  EXPECT_EQ(counted, 25);
}

TEST(HeadNumbers, ScoresThatAreNotFiniteOrHugeLeaveTheHistogramWhole) {
  const auto snapshot = with_inside(encoder_head);
  HeadInside& inside = *snapshot->inside;
  const auto counted = [&] {
    const HeadNumbers numbers = head_numbers(snapshot, model_mask(inside));
    int count = 0;
    for (const int of_bin : numbers.spread.histogram) count += of_bin;
    EXPECT_EQ(numbers.spread.histogram.size(), 24U);
    return count;
  };
  inside.q.at(2, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(counted(), 20) << "a row of five scores is not a number";
  inside.q.at(2, 0) = 0;
  for (const int row : {1, 2}) {
    for (int col = 0; col < inside.q.cols; ++col) inside.q.at(row, col) = 0;
    inside.q.at(row, 0) = row == 1 ? 1e38F : -1e38F;
  }
  for (int row = 0; row < inside.k.rows; ++row) inside.k.at(row, 0) = 3;
  EXPECT_EQ(counted(), 25) << "their range is above the largest float";
}

// ---- drawn

class Inside : public testing::Test {
 protected:
  Inside() { attention.begun = true; }

  void show(const std::shared_ptr<const Snapshot>& snapshot, AttentionLevel level = AttentionLevel::inside) {
    receive(scope, {fixture_run(3), Status{Activity::paused, 3, "CPU"}}, snapshot);
    attention.level = level;
    if (snapshot->inside) select(attention, snapshot->inside->place);
    ui.frames(3, draw);
    scope.commands.clear();
  }

  // Brings the mouse over a cell of the stage that is drawn alone; false if it is nowhere.
  std::optional<ImVec2> find_cell(int row, int col) {
    for (float y = 120; y < 700; y += 7) {
      for (float x = 500; x < 1200; x += 7) {
        ui.move({x, y}, draw);
        const auto& pointed = attention.inside.pointed;
        if (pointed && pointed->row == row && pointed->col == col) return ImVec2{x, y};
        if (pointed && pointed->row != row) break;
      }
    }
    return std::nullopt;
  }

  const HeadNumbers& numbers() const { return *attention.inside.numbers; }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(Inside, TheLevelAsksForTheHeadThatIsSelectedAndWaitsForIt) {
  show(with_inside(encoder_head));
  EXPECT_EQ(scope.asked.inside, encoder_head);
  ui.io().DisplaySize = {1600, 1600};
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("softmax"));
  select(attention, {AttentionPart::encoder, 0, 0});
  ui.frames(2, draw);
  EXPECT_EQ(scope.asked.inside, (HeadPlace{AttentionPart::encoder, 0, 0}));
  EXPECT_TRUE(ui.drew("computing"));
  EXPECT_FALSE(ui.drew("softmax"));
}

TEST_F(Inside, EveryStageIsThere) {
  ui.io().DisplaySize = {1600, 1600};
  show(with_inside(decoder_head, "alibi"));
  for (const char* title : {"ALiBi bias", "mask", "softmax", "weights", "concat", "W_O", "output"})
    EXPECT_TRUE(ui.drew(title)) << title;
}

TEST_F(Inside, WhatShawsVectorsAddIsInTheTitles) {
  ui.io().DisplaySize = {1660, 1600};
  show(with_inside(encoder_head));
  EXPECT_TRUE(ui.drew("q·k ÷ "));
  EXPECT_TRUE(ui.drew("weights × V"));
  EXPECT_FALSE(ui.drew("Shaw bias"));
  show(with_inside(encoder_head, "shaw"));
  EXPECT_TRUE(ui.drew("Shaw bias"));
  EXPECT_FALSE(ui.drew("q·k ÷ ")) << "nor the bias";
  EXPECT_TRUE(ui.drew("w·(V + a^V)"));
}

TEST_F(Inside, ATitleShowsItsStageAlone) {
  ui.io().DisplaySize = {1600, 1600};
  show(with_inside(encoder_head));
  ASSERT_TRUE(ui.click_text("concat", draw));
  EXPECT_EQ(attention.inside.alone, Stage::heads);
  EXPECT_FALSE(ui.drew("W_O"));
  ASSERT_TRUE(ui.click_text("concat", draw));
  EXPECT_FALSE(attention.inside.alone);
}

TEST_F(Inside, ACellShowsItsArithmeticAndAClickKeepsItsPieces) {
  show(with_inside(encoder_head));
  attention.inside.alone = Stage::weights;
  const auto at = find_cell(2, 1);
  ASSERT_TRUE(at);
  EXPECT_TRUE(ui.drew("exp("));
  ui.click(*at, draw);
  EXPECT_EQ(attention.pinned_row, 2);
  EXPECT_EQ(attention.pinned_col, 1);
  ui.click(*at, draw);
  EXPECT_FALSE(attention.pinned_row);
  EXPECT_FALSE(attention.pinned_col);
}

TEST_F(Inside, AClickOnTheMaskHidesACellAndAnotherShowsItAgain) {
  scope.layout.setup_open = false;  // so that what is changed has room beside the tabs, and nothing moves
  show(with_inside(encoder_head));
  attention.inside.alone = Stage::masked;
  const auto at = find_cell(2, 1);
  ASSERT_TRUE(at);
  ui.click(*at, draw);
  EXPECT_TRUE(numbers().mask.at(2, 1));
  EXPECT_EQ(numbers().stages.weights.at(2, 1), 0);
  EXPECT_TRUE(ui.drew("What-if for this head only"));
  const auto there = find_cell(2, 1);  // the bar that lists it has moved the picture
  ASSERT_TRUE(there);
  ui.click(*there, draw);
  EXPECT_TRUE(attention.interventions.hidden.empty()) << "the model's again";
  EXPECT_FALSE(ui.drew("What-if for this head only"));
}

TEST_F(Inside, DraggingHidesEveryCellOnTheWay) {
  scope.layout.setup_open = false;  // so that what is changed has room beside the tabs, and nothing moves
  show(with_inside(encoder_head));
  attention.inside.alone = Stage::masked;
  const auto from = find_cell(1, 0);
  const auto to = find_cell(1, 4);
  ASSERT_TRUE(from && to);
  ui.drag(*from, *to, draw);
  for (int col = 0; col < 5; ++col) EXPECT_TRUE(numbers().mask.at(1, col)) << col;
  EXPECT_FALSE(numbers().mask.at(0, 0));
  EXPECT_FALSE(numbers().mask.at(2, 2));
  for (int col = 0; col < 5; ++col) EXPECT_EQ(numbers().stages.weights.at(1, col), 0) << "hidden whole";
}

TEST_F(Inside, ButtonsSetWholeMasks) {
  show(with_inside(decoder_head));
  ASSERT_TRUE(ui.click_text("None", draw));
  EXPECT_FALSE(numbers().mask.at(0, 5));
  EXPECT_TRUE(numbers().what_if);
  ASSERT_TRUE(ui.click_text("Look-ahead", draw));
  EXPECT_FALSE(numbers().what_if) << "that is the model's in the decoder";
  ASSERT_TRUE(ui.click_text("None", draw));
  ASSERT_TRUE(ui.click_text("Original", draw));
  EXPECT_FALSE(numbers().what_if);
}

TEST_F(Inside, AKeyIsHiddenFromEveryQuery) {
  show(with_inside(encoder_head));
  ASSERT_TRUE(ui.click_text("Hide key", draw));
  const auto item = ui.find_text("src3", 2);
  ASSERT_TRUE(item || ui.find_text("src3"));
  // The menu is drawn last.
  std::optional<ImVec2> last;
  for (int nth = 0; ui.find_text("src3", nth); ++nth) last = ui.find_text("src3", nth);
  ui.click(*last, draw);
  for (int row = 0; row < 5; ++row) EXPECT_TRUE(numbers().mask.at(row, 2)) << row;
  for (int row = 0; row < 5; ++row) EXPECT_EQ(numbers().stages.weights.at(row, 2), 0);
}

TEST_F(Inside, APaintedMaskIsLetGoWithTheSentenceAndWithThePart) {
  show(with_inside(encoder_head));
  attention.interventions.hidden = {{encoder_head, {{1, 1}}}};
  ui.frames(2, draw);
  EXPECT_TRUE(numbers().what_if);
  show(with_inside({AttentionPart::cross, 1, 1}, "sinusoidal", {5, 5, 2, 4}));
  EXPECT_FALSE(numbers().what_if) << "painted elsewhere";
  set_sentence(scope, "another one");
  EXPECT_TRUE(attention.interventions.hidden.empty());
}

TEST_F(Inside, APaintedMaskIsAskedOfTheModelAndThenNoWhatIf) {
  show(with_inside(encoder_head));
  attention.inside.alone = Stage::masked;
  const auto at = find_cell(2, 1);
  ASSERT_TRUE(at);
  ui.click(*at, draw);
  EXPECT_EQ(scope.asked.interventions.hidden, (std::vector<HiddenKeys>{{encoder_head, {{2, 1}}}}));
  EXPECT_TRUE(ui.drew("masked"));  // in the bar
  auto answer = with_inside(encoder_head);
  answer->interventions = scope.asked.interventions;
  show(answer);
  EXPECT_TRUE(numbers().mask.at(2, 1));
  EXPECT_FALSE(numbers().what_if);
}

TEST_F(Inside, WhatTheDecoderHasNotWrittenIsShownToTheNumbersAlone) {
  show(with_inside(decoder_head));
  ASSERT_TRUE(ui.click_text("None", draw));
  EXPECT_TRUE(attention.inside.lifted);
  EXPECT_TRUE(scope.asked.interventions.empty());
}

TEST_F(Inside, DividingIsComparedSideBySide) {
  show(with_inside(encoder_head));
  EXPECT_FALSE(ui.drew("not scaled"));
  ASSERT_TRUE(ui.click_text("Compare", draw));
  EXPECT_TRUE(attention.inside.compare);
  EXPECT_TRUE(ui.drew("not scaled"));
  EXPECT_TRUE(ui.find_text("mean entropy", 1));
  EXPECT_TRUE(ui.find_text("softmax gradient", 1));
  int labels = 0;
  for (int nth = 0; const auto at = ui.find_text("src2", nth); ++nth) labels += at->x > 300 && at->y > 150 ? 1 : 0;
  EXPECT_EQ(labels, 6) << "a row and a column on both sides, and rows of Q and K";
}

TEST_F(Inside, NothingIsComputedOrSentAnewWhileNothingChanges) {
  show(with_inside(encoder_head));
  const auto before = attention.inside.numbers;
  const int uploads = ui.textures.uploads;
  ui.frames(5, draw);
  EXPECT_EQ(attention.inside.numbers, before);
  EXPECT_EQ(ui.textures.uploads, uploads);
}

TEST_F(Inside, ALayerThatIsOffSaysSo) {
  auto snapshot = fixture_snapshot({5, 6, 2, 4});
  snapshot->interventions.layers_off = {{false, 1}};
  attention.part = AttentionPart::encoder;
  show(snapshot);
  EXPECT_TRUE(ui.drew("switched off"));
}

TEST_F(Inside, SmallLargeAndMaskedHeadsAreDrawn) {
  for (const FixtureSize size : {FixtureSize{1, 1, 1, 4}, FixtureSize{128, 128, 2, 4}}) {
    for (const HeadPlace place : {HeadPlace{AttentionPart::encoder, 0, 0}, HeadPlace{AttentionPart::decoder, 0, 3},
                                  HeadPlace{AttentionPart::cross, 0, 1}}) {
      for (const ImVec2 window : {ImVec2(320, 240), ImVec2(2000, 1400)}) {
        ui.io().DisplaySize = window;
        attention.inside.compare = true;
        show(with_inside(place, "shaw", size));
        attention.interventions.hidden = {{place, {}}};
        for (int query = 0; query < numbers().mask.rows; ++query)
          for (int key = 0; key < numbers().mask.cols; ++key)
            attention.interventions.hidden[0].cells.push_back({query, key});
        ui.frames(2, draw);
        EXPECT_GT(ui.vertices(), 300);
        EXPECT_THAT(numbers().stages.weights.values, testing::Each(0.0F));
      }
    }
  }
}

// ---- the sublayers

class Sublayers : public Inside {
 protected:
  std::shared_ptr<Snapshot> with_flow(const ModelConfig& model = {}) {
    auto snapshot = snapshot_of_model(model);
    add_flow(*snapshot);
    return snapshot;
  }
};

TEST_F(Sublayers, TheLevelAsksForTheFlowAndWaitsForIt) {
  show(fixture_snapshot({5, 6, 2, 4}), AttentionLevel::sublayers);
  EXPECT_TRUE(scope.asked.sublayers);
  EXPECT_TRUE(ui.drew("computing"));
}

TEST_F(Sublayers, EverySublayerHasItsRowAndTheNormItsName) {
  ui.io().DisplaySize = {1800, 1600};
  show(with_flow(), AttentionLevel::sublayers);
  for (const char* text : {"L1 self", "L2 ff", "L1 masked", "L2 cross", "LayerNorm(x + Sublayer(x))", "32 units"})
    EXPECT_TRUE(ui.drew(text)) << text;
  ModelConfig pre;
  pre.norm = "pre";
  ui.io().DisplaySize = {1280, 1600};  // no room for both
  show(with_flow(pre), AttentionLevel::sublayers);
  EXPECT_TRUE(ui.drew("x + Sublayer(LayerNorm(x))"));
  EXPECT_FALSE(ui.drew("post-norm"));
  pre.norm_kind = "rms";
  show(with_flow(pre), AttentionLevel::sublayers);
  EXPECT_TRUE(ui.drew("x + Sublayer(RMSNorm(x))"));
}

TEST_F(Sublayers, AClickOnASublayerSelectsItsLayerAndPiece) {
  ui.io().DisplaySize = {1800, 1600};
  attention.part = AttentionPart::decoder;
  show(with_flow(), AttentionLevel::sublayers);
  const auto row = ui.find_text("L1 self");
  ASSERT_TRUE(row);
  ui.click({row->x + 60, row->y}, draw);
  EXPECT_EQ(attention.part, AttentionPart::encoder);
  EXPECT_EQ(attention.layer, 0);
  ASSERT_TRUE(attention.pinned_row);
  const auto cross = ui.find_text("L2 cross");
  ASSERT_TRUE(cross);
  ui.click({cross->x + 60, cross->y}, draw);
  EXPECT_EQ(attention.part, AttentionPart::cross);
  EXPECT_EQ(attention.layer, 1);
}

TEST_F(Sublayers, EveryArchitectureAndSizeIsDrawn) {
  for (const ModelConfig& model : fixture_models()) {
    show(with_flow(model), AttentionLevel::sublayers);
    EXPECT_GT(ui.vertices(), 300);
  }
  for (const FixtureSize size : {FixtureSize{1, 1, 1, 1}, FixtureSize{128, 128, 6, 8}}) {
    auto snapshot = fixture_snapshot(size);
    add_flow(*snapshot);
    show(snapshot, AttentionLevel::sublayers);
    EXPECT_GT(ui.vertices(), 300);
  }
}

TEST(ActiveUnits, AreThoseAboveZeroTheLargestFirst) {
  Matrix active(2, 5);
  active.values = {0, 3, 0, 1, 2, -0.1F, 0, 0, 0, 0.5F};
  const auto units = most_active(active, 0, 2);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].unit, 1);
  EXPECT_EQ(units[1].unit, 4);
  EXPECT_EQ(most_active(active, 1, 9).size(), 1U) << "GELU is a little below 0, too";
  EXPECT_FLOAT_EQ(active_share(active, 0), 0.6F);
  EXPECT_FLOAT_EQ(active_share(active, 1), 0.2F);
}

}  // namespace
}  // namespace attnscope
