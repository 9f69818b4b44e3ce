// The chapters that need a model: recurrent cells, gradients through time, cost and length.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

ModelConfig recurrent_model(const std::string& attention) {
  ModelConfig model;
  model.architecture = "recurrent";
  model.attention = attention;
  return model;
}

Matrix counted(int rows, int cols, float first, float step) {
  Matrix matrix(rows, cols);
  for (float& value : matrix.values) value = std::exchange(first, first + step);
  return matrix;
}

// An LSTM of two units on the pieces of the source, whose second unit forgets less.
std::shared_ptr<const RecurrentStates> lstm_states(const Snapshot& snapshot, bool attention) {
  auto inspection = std::make_shared<RecurrentStates>();
  inspection->cell = "lstm";
  inspection->layers = 2;
  inspection->tokens = inspection->source = texts_of(snapshot.source);
  inspection->written = texts_of(snapshot.target_out);
  const int length = static_cast<int>(inspection->tokens.size()), steps = static_cast<int>(inspection->written.size());
  const auto gate = [&](const char* name, const char* symbol, Matrix values) {
    inspection->gates.push_back(
        {name, symbol, counted(length, 2, -1, 0.25F), counted(length, 2, 0.5F, 0), std::move(values)});
  };
  gate("input gate", "i", counted(length, 2, 0.1F, 0.01F));
  Matrix forget(length, 2);
  for (int t = 0; t < length; ++t) {
    forget.at(t, 0) = 0.5F;
    forget.at(t, 1) = 0.9F;
  }
  gate("forget gate", "f", forget);
  gate("candidate", "g", counted(length, 2, -0.5F, 0.1F));
  gate("output gate", "o", counted(length, 2, 0.3F, 0.02F));
  inspection->h = counted(length, 2, -0.4F, 0.1F);
  inspection->c = counted(length, 2, -0.8F, 0.2F);
  inspection->first_h = inspection->first_c = Matrix(1, 2);
  inspection->handed = counted(2, 2, -1, 0.5F);
  inspection->handed_names = {"layer 1, h", "layer 1, c"};
  if (!attention) {
    inspection->read_out = std::vector<std::string>(inspection->tokens.size(), "le chat");
    return inspection;
  }
  StateAttention states;
  states.score = "bahdanau";
  states.states = states.asked = states.contexts = counted(steps, 2, 0, 0.1F);
  states.memory = states.keys = counted(length, 2, 0, 0.1F);
  states.v = {1, -1};
  states.energies = counted(steps, length, -1, 0.1F);
  states.weights = Matrix(steps, length);
  for (float& value : states.weights.values) value = 1.0F / static_cast<float>(length);
  inspection->attention.push_back(states);
  return inspection;
}

class ChaptersPanel : public testing::Test {
 protected:
  ChaptersPanel() {
    scope.layout.workspace = find_workspace("origins");
    scope.layout.setup_open = scope.layout.curves_open = false;
  }

  void receive_model(const ModelConfig& model, bool attention = true) {
    RunOpened run = fixture_run(20);
    run.config.model = model;
    receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, nullptr);
    auto snapshot = snapshot_of_model(model);
    snapshot->run = run.run;
    snapshot->request = scope.asked.request;
    if (model.is_recurrent()) snapshot->recurrent = lstm_states(*snapshot, attention);
    receive(scope, {}, snapshot);
  }

  void show(OriginsMode mode) {
    view.mode = mode;
    ui.frames(4, draw);
  }

  template <typename Answer>
  void answer(Answer made) {
    auto result = std::make_shared<StudyResult>();
    result->run = scope.a.run.run;
    result->step = 20;
    result->answer = std::move(made);
    receive(scope, StudyEnded{scope.studies, result});
    ui.frames(3, draw);
  }

  AppState scope;
  OriginsView& view = scope.views.of<OriginsView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

constexpr std::array with_model = {
    OriginsMode::cell, OriginsMode::state_attention, OriginsMode::bottleneck, OriginsMode::through_time,
    OriginsMode::cost, OriginsMode::lengths,         OriginsMode::classes};

TEST_F(ChaptersPanel, WithoutARunEachSaysWhatToDo) {
  for (const OriginsMode mode : with_model) {
    show(mode);
    // "No run is open. Open …", and what the view would show before it: ", but no run is open. Open …".
    EXPECT_TRUE(ui.drew("o run is open. Open ")) << static_cast<int>(mode);
  }
}

TEST_F(ChaptersPanel, ATransformerHasNoCell) {
  receive_model(ModelConfig());
  for (const OriginsMode mode : {OriginsMode::cell, OriginsMode::state_attention, OriginsMode::bottleneck}) {
    show(mode);
    EXPECT_TRUE(ui.drew("choose the recurrent architecture, then Reset"));
    EXPECT_TRUE(scope.asked.recurrent);
  }
}

TEST_F(ChaptersPanel, UnitsStandInTheOrderOfWhatTheyRemember) {
  receive_model(recurrent_model("bahdanau"));
  show(OriginsMode::cell);
  EXPECT_EQ(view.recurrent.order, (std::vector<int>{1, 0}));
  for (const char* text : {"forget gate f", "memory cell c", "state h", "Unit 1 at", "Each step retains 0.900"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_FLOAT_EQ(view.recurrent.maps[1].values.at(0, 0), 0.9F);
  ui.key(Key::down, draw);
  EXPECT_TRUE(ui.drew("Unit 0 at"));
  EXPECT_TRUE(ui.drew("Each step retains 0.500"));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.recurrent.token, 1);
  ASSERT_TRUE(ui.click_text("in order", draw));
  ui.frames(2, draw);
  EXPECT_EQ(view.recurrent.order, (std::vector<int>{0, 1}));
  ASSERT_TRUE(ui.click_text("decoder", draw));
  EXPECT_TRUE(view.recurrent.wanted.decoder);
}

TEST_F(ChaptersPanel, OnlyTheCandidateOfAGruResetsTheState) {
  receive_model(recurrent_model("bahdanau"));
  auto snapshot = std::make_shared<Snapshot>(*scope.a.complete.snapshot);
  auto gru = std::make_shared<RecurrentStates>(*snapshot->recurrent);
  gru->cell = "gru";
  gru->gates.resize(3);
  for (const auto& [gate, symbol] : {std::pair(0, "r"), std::pair(1, "z"), std::pair(2, "n")})
    gru->gates[static_cast<std::size_t>(gate)].symbol = symbol;
  gru->c = gru->first_c = {};
  snapshot->recurrent = gru;
  receive(scope, {}, snapshot);
  show(OriginsMode::cell);
  EXPECT_TRUE(ui.drew("tanh(W x + b + r"));
  EXPECT_FALSE(ui.find_text("tanh(W x + b", 1));
  // Unit 1 at the first token: x −0.75, h 0.5, r 0.11 and n −0.4.
  EXPECT_TRUE(ui.drew("tanh(?0.750 + 0.110·0.500) = ?0.400")) << "the font has no −: " << ui.drawn_text();
}

TEST_F(ChaptersPanel, AttentionOverStatesOrWhyNot) {
  receive_model(recurrent_model("bahdanau"));
  show(OriginsMode::state_attention);
  for (const char* text : {"energies e", "weights a", "context c", "state before the token"})
    EXPECT_TRUE(ui.drew(text)) << text;
  const ImVec2 weights = ui.find_text("weights a").value_or(ImVec2());
  ui.move({weights.x + 100, weights.y + 60}, draw);
  for (const char* text : {"softmax of the energies, one row per step", "exp = 1 / "})
    EXPECT_TRUE(ui.drew(text)) << text << " at a cell";
  receive_model(recurrent_model("none"), false);
  show(OriginsMode::state_attention);
  EXPECT_TRUE(ui.drew("This network has no attention"));
  show(OriginsMode::bottleneck);
  EXPECT_TRUE(ui.drew("If the encoder stopped here"));
  EXPECT_TRUE(ui.drew("le chat"));
}

GradientResult gradient_result(const Snapshot& snapshot, bool transformer) {
  GradientResult inspection;
  inspection.question.text = snapshot.source_text;
  inspection.written = texts_of(snapshot.target_out);
  inspection.model = "LSTM";
  inspection.plain.encoder = {texts_of(snapshot.source),
                              counted(3, static_cast<int>(snapshot.source.size()), 0.1F, 0.1F)};
  inspection.plain.decoder = {texts_of(snapshot.target_in),
                              counted(3, static_cast<int>(snapshot.target_in.size()), 1, 0.1F)};
  if (transformer) inspection.bare.push_back(inspection.plain);
  return inspection;
}

TEST_F(ChaptersPanel, GradientsAreAskedForOnceAndDrawn) {
  receive_model(ModelConfig());
  show(OriginsMode::through_time);
  EXPECT_TRUE(std::ranges::any_of(scope.commands, [](const Command& command) {
    const auto* asked = std::get_if<StartStudy>(&command);
    return asked && std::holds_alternative<GradientQuestion>(asked->question);
  }));
  EXPECT_EQ(scope.studies, 1U);
  answer(gradient_result(*scope.a.complete.snapshot, true));
  EXPECT_EQ(scope.studies, 1U) << "once";
  EXPECT_TRUE(ui.drew("Gradient by layer"));
  ASSERT_EQ(view.gradients.lines.size(), 3U);
  EXPECT_FLOAT_EQ(static_cast<float>(view.gradients.lines[0].y[0]), 0.1F);
  ASSERT_TRUE(ui.click_text("residual connections", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(scope.asked.interventions.no_residuals);
  EXPECT_TRUE(ui.drew("no residual connections"));
  ui.key(Key::left, draw);
  EXPECT_EQ(scope.studies, 2U) << "of the piece before";
  keep_gradients(view.gradients);
  answer(gradient_result(*scope.a.complete.snapshot, false));
  EXPECT_EQ(view.gradients.lines.size(), 4U);
  EXPECT_FALSE(ui.drew("Gradient by layer"));
  GradientResult empty = gradient_result(*scope.a.complete.snapshot, false);
  empty.problem = "The model generated no output for this sentence.";
  answer(empty);
  EXPECT_TRUE(ui.drew("The model generated no output for this sentence."));
}

TEST_F(ChaptersPanel, CostIsDrawnWithItsTable) {
  receive_model(ModelConfig());
  show(OriginsMode::cost);
  ASSERT_EQ(scope.studies, 1U);
  CostResult inspection{128, 4, "lstm", "CPU, 1 thread", {}, 1};
  for (const CostLayer layer : cost_layers) {
    CostCurve curve{layer, {}};
    for (std::int64_t n = 16; n <= 256; n *= 2)
      curve.points.push_back({n, static_cast<double>(n), static_cast<double>(n), static_cast<double>(n)});
    inspection.curves.push_back(curve);
  }
  inspection.curves[2].ended = "the time limit of 30 s is reached";
  answer(inspection);
  for (const char* text :
       {"self-attention", "recurrent (lstm)", "log_k n", "1.00", "convolution stops there", "d_model 128"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_EQ(view.cost.axis.marker, 256);
  const Series& expected = view.cost.expected.front();  // through the last point measured, and farther
  const auto last = std::ranges::find(expected.x, 256);
  ASSERT_NE(last, expected.x.end());
  EXPECT_NEAR(expected.y[static_cast<std::size_t>(last - expected.x.begin())], view.cost.measured.front().y.back(),
              1e-9);
  EXPECT_GT(expected.x.back(), 256);
  EXPECT_FALSE(ui.drew("Other programs"));
  inspection.processor_share = 0.6;
  answer(inspection);
  EXPECT_TRUE(ui.drew("Other programs used the processor 40 % of the time"));
  scope.layout.setup_open = scope.layout.curves_open = true;
  ui.frames(3, draw);
  for (const char* name : {"4nd\u00B2 + 2n\u00B2d", "knd\u00B2"})
    EXPECT_TRUE(ui.drew(name)) << name << " in the legend, also where it is narrow";
  answer(CostResult());
}

TEST_F(ChaptersPanel, LengthsOfRunViewsStayBesideTheNewest) {
  receive_model(ModelConfig());
  show(OriginsMode::lengths);
  ASSERT_EQ(scope.studies, 1U);
  LengthResult inspection;
  inspection.model = "Transformer, sinusoidal";
  inspection.trained = 12;
  inspection.points = {{10, 4, 4, {1, 10}}, {20, 4, 1, {20, 10}}};
  answer(inspection);
  for (const char* text : {"up to 12 words", "Exact matches, %", "Loss, nats per token"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_EQ(view.lengths.exact.back().y, (std::vector<double>{100, 25}));
  answer(inspection);
  EXPECT_EQ(view.lengths.inspections.size(), 1U) << "the same run anew";
  ++scope.a.run.run;
  inspection.model = "Transformer, rope";
  answer(inspection);
  EXPECT_EQ(view.lengths.inspections.size(), 2U);
  ASSERT_TRUE(ui.click_text("Clear other runs", draw));
  ui.frames(2, draw);
  ASSERT_EQ(view.lengths.inspections.size(), 1U);
  EXPECT_EQ(view.lengths.inspections.front().model, "Transformer, rope");
}

ModelConfig classifier_model(const std::string& reader, const std::string& pooling, std::int64_t classes = 3) {
  ModelConfig model;
  model.architecture = "classifier";
  model.reader = reader;
  model.pooling = pooling;
  model.num_classes = classes;
  return model;
}

Evaluation three_classes() {
  Evaluation scores;
  scores.pairs = 20;
  scores.confusion = {{"complaint", "mixed", "praise"}, {9, 1, 0, 0, 4, 0, 2, 0, 4}};
  return scores;
}

TEST_F(ChaptersPanel, AModelThatWritesHasNoLabels) {
  receive_model(ModelConfig());
  show(OriginsMode::classes);
  EXPECT_TRUE(ui.drew("choose the architecture classifier"));
  EXPECT_EQ(scope.studies, 0U);
}

TEST_F(ChaptersPanel, AClassifierShowsItsLabelsAndItsConfusion) {
  receive_model(classifier_model("transformer", "attention"));
  show(OriginsMode::classes);
  ASSERT_EQ(scope.studies, 1U) << "the held-out texts, once";
  EXPECT_TRUE(ui.drew("Classifying the held-out texts"));
  EXPECT_TRUE(ui.drew("by pooling weight"));
  EXPECT_FALSE(ui.drew("other labels")) << "all three are listed";
  answer(three_classes());
  for (const char* text : {"Accuracy 85.0 %", "balanced 85.6 %", "largest class: 50.0 %", "complaint"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_EQ(scope.studies, 1U);
  EXPECT_FLOAT_EQ(view.classes.shares.at(2, 0), 2.0F / 6);
  ASSERT_TRUE(ui.click_text("texts", draw));
  const auto numbers = find_workspace("origins")->numbers(scope.views);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->rows, view.classes.confusion.labels);
  EXPECT_EQ(numbers->matrix.at(0, 1), 1);
}

TEST_F(ChaptersPanel, WhereTheLastStateAloneCountsPiecesAreColouredByGradient) {
  receive_model(classifier_model("recurrent", "last"));
  show(OriginsMode::classes);
  EXPECT_TRUE(view.classes.by_gradient);
  answer(three_classes());
  ui.frames(3, draw);
  EXPECT_EQ(scope.studies, 2U) << "then how far the label's loss reaches";
  GradientResult inspection;
  inspection.question.text = scope.a.complete.snapshot->source_text;
  inspection.written = {"praise"};
  inspection.model = "LSTM, last pooling";
  inspection.plain.encoder.tokens = texts_of(scope.a.complete.snapshot->source);
  inspection.plain.encoder.norms = counted(2, static_cast<int>(inspection.plain.encoder.tokens.size()), 0.1F, 0.1F);
  answer(inspection);
  EXPECT_FALSE(ui.drew("Computing the gradients"));
  show(OriginsMode::through_time);
  EXPECT_TRUE(ui.drew("at each token"));
}

TEST_F(ChaptersPanel, OneLabelAndAThousandAreDrawn) {
  receive_model(classifier_model("transformer", "mean", 1));
  show(OriginsMode::classes);
  EXPECT_TRUE(ui.drew("There is only one label"));
  Evaluation scores;
  scores.pairs = 1000;
  for (int i = 0; i < 1000; ++i) scores.confusion.labels.push_back("class " + std::to_string(i));
  scores.confusion.counts.assign(1000 * 1000, 0);
  for (std::size_t i = 0; i < 1000; ++i) scores.confusion.counts[i * 1001] = 1;
  answer(scores);
  EXPECT_TRUE(ui.drew("Accuracy 100.0 %"));
  EXPECT_TRUE(ui.drew("1 000 texts"));
}

TEST_F(ChaptersPanel, WhatWritesPieceByPieceSaysWhyAClassifierDoesNot) {
  receive_model(classifier_model("transformer", "attention"));
  for (const char* workspace : {"decoding", "circuit"}) {
    scope.layout.workspace = find_workspace(workspace);
    ui.frames(2, draw);
    EXPECT_TRUE(ui.drew("a classifier predicts one label")) << workspace;
  }
}

TEST_F(ChaptersPanel, TheTabsStandInOneRow) {
  receive_model(ModelConfig());
  scope.layout.setup_open = scope.layout.curves_open = true;
  show(OriginsMode::kernels);
  const auto first = ui.find_text("Kernels"), last = ui.find_text("Classes");
  ASSERT_TRUE(first && last);
  EXPECT_EQ(first->y, last->y);
}

// ---- words in other orders

TEST_F(ChaptersPanel, ShuffledWordsStandBesideTheSentence) {
  scope.layout.workspace = show_view(scope.views, "shuffled");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("No run is open"));
  receive_model(ModelConfig());
  ui.frames(3, draw);
  ASSERT_EQ(scope.studies, 1U);
  OrderResult inspection;
  inspection.question.text = "the cat sat";
  inspection.positions = "sinusoidal";
  const auto add = [&inspection](const std::string& text, const std::string& output, double log_prob) {
    WordOrder& order = inspection.orders.emplace_back();
    order.text = text;
    order.with_positions = {output, log_prob};
    order.without_positions = {{"un chien", -3}};
  };
  add("the cat sat", "le chat", -0.5);
  add("sat the cat", "assis", -9);
  answer(inspection);
  for (const char* text : {"sat the cat", "assis", "un chien", "without positions"}) EXPECT_TRUE(ui.drew(text)) << text;
  const auto numbers = scope.layout.workspace->numbers(scope.views);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->matrix.at(1, 0), -9);
  ASSERT_TRUE(ui.click_text("positional encoding on (all views)", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(scope.asked.interventions.no_positions);
  ui.key(Key::home, draw);
  EXPECT_EQ(scope.studies, 2U) << "shuffled anew";
  inspection.problem = "There is nothing to shuffle: type at least two words.";
  answer(inspection);
  EXPECT_TRUE(ui.drew("nothing to shuffle"));
}

TEST_F(ChaptersPanel, HostileNumbersAreDrawn) {
  receive_model(recurrent_model("bahdanau"));
  auto broken = std::make_shared<Snapshot>(*scope.a.complete.snapshot);
  auto inspection = std::make_shared<RecurrentStates>(*broken->recurrent);
  for (float& value : inspection->h.values) value = NAN;
  broken->recurrent = inspection;
  receive(scope, {}, broken);
  show(OriginsMode::cell);
  EXPECT_TRUE(ui.drew("training diverged"));
  GradientResult gradients = gradient_result(*broken, true);
  for (float& value : gradients.plain.encoder.norms.values) value = NAN;
  show(OriginsMode::through_time);
  answer(gradients);
  EXPECT_TRUE(ui.drew("Gradient by layer"));
}

TEST_F(ChaptersPanel, EachHasNumbersToTakeAway) {
  const Workspace& workspace = *find_workspace("origins");
  receive_model(recurrent_model("bahdanau"));
  for (const OriginsMode mode : {OriginsMode::cell, OriginsMode::state_attention, OriginsMode::bottleneck}) {
    show(mode);
    const auto numbers = workspace.numbers(scope.views);
    ASSERT_TRUE(numbers);
    EXPECT_EQ(numbers->matrix.rows, static_cast<int>(numbers->rows.size()));
    EXPECT_EQ(numbers->matrix.cols, static_cast<int>(numbers->cols.size()));
  }
  show(OriginsMode::cost);
  EXPECT_FALSE(workspace.numbers(scope.views));
}

}  // namespace
}  // namespace attnscope
