// The data-flow workspace: its boxes, their numbers, the soft database and the batch, driven by mouse and keys.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "analysis/soft_lookup.h"
#include "flow_fixture.h"
#include "inside_fixture.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/flow/flow.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

class Flow : public testing::Test {
 protected:
  Flow() {
    scope.layout.workspace = find_workspace("flow");
    scope.layout.sentence = "in0 in1 in2";
    open({.num_decoder_layers = 2});
  }

  void open(const ModelConfig& model) {
    RunOpened run = fixture_run(20);
    run.config.model = model;
    receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, nullptr);
    answer(snapshot_of_model(model, scope.asked.request + 1));
  }

  // The look with what was asked of it, until nothing else is asked.
  void answer(std::shared_ptr<Snapshot> snapshot) {
    base = snapshot;
    for (int i = 0; i < 4; ++i) {
      auto next = std::make_shared<Snapshot>(*base);
      next->request = scope.asked.request + 1;
      if (scope.asked.data_flow) {
        add_data_flow(*next, *scope.asked.data_flow);
        const auto part = attention_of(scope.asked.data_flow->box);
        if (part) add_inside(*next, {*part, view.layer, view.head});
      }
      if (scope.asked.batch) next->batch = std::make_shared<const BatchInspection>(batch);
      receive(scope, {}, next);
      ui.frames(2, draw);
    }
  }
  void show(FlowMode mode) {
    view.mode = mode;
    ui.frames(2, draw);
    answer(base);
  }

  AppState scope;
  FlowView& view = scope.views.of<FlowView>();
  std::shared_ptr<Snapshot> base;
  BatchInspection batch = fixture_batch();
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

// ---- the picture

TEST_F(Flow, ThePictureHasABoxASublayerAndAShapeAnArrow) {
  for (const char* title : {"Input embedding", "Shaw", "Self-attention", "Add & norm", "Feed-forward",
                            "Output embedding", "Masked attention", "Cross-attention", "Linear", "Softmax"}) {
    EXPECT_TRUE(ui.drew(title)) << title;
  }
  const auto source = base->source.size(), target = base->target_in.size();
  EXPECT_TRUE(ui.drew("B×S×D=1×" + std::to_string(source) + "×128"));
  EXPECT_TRUE(ui.drew("B×T×D=1×" + std::to_string(target) + "×128"));
  EXPECT_TRUE(ui.drew("B×T×V=1×" + std::to_string(target) + "×100"));
  EXPECT_TRUE(ui.drew("832 parameters"));  // of all the fixture has
  EXPECT_TRUE(ui.drew("× 2"));
  EXPECT_FALSE(ui.drew("Positional encoding"));
  open({.num_decoder_layers = 2, .positions = "sinusoidal"});
  EXPECT_TRUE(ui.drew("Positional encoding"));
  EXPECT_FALSE(ui.drew("Shaw"));
}

TEST_F(Flow, AColumnOfFewerLayersShowsTheParametersOfItsLast) {
  open({.num_encoder_layers = 2, .num_decoder_layers = 1});
  view.layer = 1;
  auto shown = std::make_shared<Snapshot>(*base);
  add_data_flow(*shown, FlowWanted{.box = view.box, .layer = 1});
  auto flow = std::make_shared<DataFlow>(*shown->data_flow);
  flow->parameters = {{"encoder.layers.1.linear1.weight", {31, 29}}, {"decoder.layers.0.linear1.weight", {7, 101}}};
  shown->data_flow = flow;
  shown->request = scope.asked.request + 1;
  receive(scope, {}, shown);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("899"));
  EXPECT_TRUE(ui.drew("707"));
}

TEST_F(Flow, AClickChoosesABoxAndAsksForItsNumbers) {
  ASSERT_TRUE(ui.click_text("Cross-attention", draw));
  EXPECT_EQ(view.box, (FlowBox{FlowPart::cross_attention, true}));
  ASSERT_TRUE(scope.asked.data_flow);
  EXPECT_EQ(scope.asked.data_flow->box, view.box);
  EXPECT_TRUE(ui.drew("computing"));
  answer(base);
  EXPECT_TRUE(ui.drew("A second section"));
  EXPECT_TRUE(ui.drew("decoder, layer 1"));
}

TEST_F(Flow, ArrowKeysGoFromBoxToBox) {
  EXPECT_EQ(view.box, (FlowBox{FlowPart::embedding, false}));
  ui.key(Key::up, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::positions, false}));
  ui.key(Key::up, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::self_attention, false}));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::self_attention, true}));
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::embedding, true}));
  ui.key(Key::left, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::embedding, false}));
}

TEST_F(Flow, KeysChooseLayerHeadAndPiece) {
  select_box(view, {FlowPart::self_attention, true});
  answer(base);
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.layer, 1);
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.layer, 1);  // the last
  ui.key(Key::backspace, draw);
  EXPECT_EQ(view.layer, 0);
  ui.key(Key::end, draw);
  EXPECT_EQ(view.head, 1);
  ui.key(Key::home, draw);
  EXPECT_EQ(view.head, 0);
  const int token = shown_token(view, *base);
  ui.key(Key::page_up, draw);
  EXPECT_EQ(view.token, token - 1);
  EXPECT_EQ(scope.asked.data_flow->layer, 0);
}

TEST_F(Flow, TheFeedForwardCanBeAskedForAsConvolutions) {
  select_box(view, {FlowPart::feed_forward, false});
  answer(base);
  ASSERT_TRUE(ui.click_text("1×1 convolutions", draw));
  EXPECT_TRUE(scope.asked.data_flow->convolution);
}

TEST_F(Flow, EveryArchitectureHasItsPictureAndAllOfItsBoxesCanBeChosen) {
  for (const ModelConfig& model : fixture_models()) {
    open(model);
    const Architecture plan = architecture_of(model);
    for (const bool decoder : {false, true}) {
      for (const ArchitectureBox& box : plan.column(decoder).boxes) {
        select_box(view, box.box);
        answer(base);
        EXPECT_EQ(view.box, box.box);
        EXPECT_FALSE(ui.drew("computing")) << box.title << " of " << model.architecture;
      }
    }
    EXPECT_EQ(ui.drew("Input embedding"), true);
    EXPECT_EQ(ui.drew("Output embedding"), model.has_decoder() && !model.is_language_model()) << model.architecture;
    if (model.is_classifier()) {
      EXPECT_TRUE(ui.drew(model.pooling == "last" ? "last states B×D" : "memory B×S×D")) << model.pooling;
    }
  }
}

TEST_F(Flow, WhatIsWrongIsSaidInASentence) {
  auto snapshot = std::make_shared<Snapshot>(*scope.a.complete.snapshot);
  auto flow = std::make_shared<DataFlow>(*snapshot->data_flow);
  flow->problem = "This layer is switched off.";
  snapshot->data_flow = flow;
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("This layer is switched off."));

  auto diverged = std::make_shared<Snapshot>(*snapshot);
  auto nothing = std::make_shared<DataFlow>(*flow);
  nothing->problem.clear();
  for (FlowMatrix& matrix : nothing->matrices)
    std::ranges::fill(matrix.values.values, std::numeric_limits<float>::quiet_NaN());
  diverged->data_flow = nothing;
  receive(scope, {}, diverged);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("the weights diverged"));
}

TEST_F(Flow, RecordedStepsSayThatTheyHoldNone) {
  auto recorded = std::make_shared<Snapshot>(*base);
  recorded->request = 0;
  receive(scope, {}, recorded);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Weights were not recorded at this step"));
}

TEST_F(Flow, AClickInATokensRowChoosesTheTokenUntilTheNextClick) {
  view.alone = true;
  view.matrix = 0;
  ui.frames(2, draw);
  const auto row = ui.find_text("src2");  // its label; the sentence is drawn later
  ASSERT_TRUE(row);
  ui.click({row->x + 200, row->y}, draw);
  EXPECT_EQ(view.token, 1);
  ui.move({2, 2}, draw);
  EXPECT_EQ(view.token, 1);
}

TEST_F(Flow, TheMatrixShownLargeIsWrittenAsCsv) {
  ASSERT_TRUE(has_numbers(scope));
  EXPECT_EQ(numbers_name(scope), "encoder-shares");  // of the box, the last
  write_csv(scope, "/nowhere/numbers.csv", false);
  const auto& written = std::get<WriteFile>(scope.commands.back());
  EXPECT_THAT(written.bytes, testing::StartsWith(",0,1\n" + base->source.front().text + ","));
}

TEST(FlowArithmetic, WritesACellAsTheSumItIs) {
  Snapshot snapshot = *fixture_snapshot({2, 2, 1, 1});
  add_data_flow(snapshot, FlowWanted{});
  DataFlow flow = *snapshot.data_flow;
  flow.matrices[0].values = Matrix(2, 2);
  flow.matrices[0].values.values = {1, 2, 3, 4};
  flow.matrices[1].values = Matrix(2, 2);
  flow.matrices[1].values.values = {0.5, 0, -1, 1};
  flow.matrices[2].values = Matrix(2, 2);
  flow.matrices[2].values.values = {-1.5, 2, -2.5, 4};
  EXPECT_THAT(flow_arithmetic(flow, 2, 1, 0), testing::HasSubstr("3.00·0.500 + 4.00·(−1.00)\n= −2.50"));
  EXPECT_THAT(flow_arithmetic(flow, 1, 0, 0), testing::HasSubstr("learned\n= 0.5"));
  flow.matrices[3].values.values[0] = 0.0293F;
  EXPECT_THAT(flow_arithmetic(flow, 3, 0, 0), testing::HasSubstr("exp(−1.50 − 2.00)"));
}

// Shaw's vectors, of distances −1, 0 and 1: what is farther counts as the farthest.
TEST(FlowArithmetic, WritesWhatAKeyGetsForItsDistanceAndADistanceOfTheWeights) {
  const std::vector<std::string> tokens = {"a", "b", "c"}, distances = {"−1", "0", "+1"};
  DataFlow flow;
  const auto add = [&](const char* name, FlowOp op, int operand, const std::vector<std::string>& columns,
                       const std::vector<float>& values) {
    FlowMatrix& made = flow.matrices.emplace_back();
    made.name = name;
    made.op = op;
    if (op != FlowOp::given) made.operands = {operand};
    made.values = Matrix(3, 3);
    made.values.values = values;
    made.row_labels = tokens;
    made.col_labels = columns;
  };
  add("q·a^K", FlowOp::given, 0, distances, {0.5, 1, 2, 3, 4, 5, 6, 7, 8});
  add("bias", FlowOp::at_distance, 0, tokens, {1, 2, 2, 3, 4, 5, 6, 6, 7});
  add("weights", FlowOp::given, 0, tokens, {0.25, 0.25, 0.5, 0.25, 0.25, 0.5, 0.25, 0.125, 0.625});
  add("by distance", FlowOp::by_distance, 2, distances, {0, 0.25, 0.75, 0.25, 0.25, 0.5, 0.375, 0.625, 0});
  EXPECT_THAT(flow_arithmetic(flow, 1, 0, 2), testing::HasSubstr("q·a^K [a, +1]\n= 2.00"));
  EXPECT_THAT(flow_arithmetic(flow, 1, 2, 0), testing::HasSubstr("q·a^K [c, −1]\n= 6.00"));
  EXPECT_THAT(flow_arithmetic(flow, 3, 2, 0), testing::HasSubstr("0.250 (a) + 0.125 (b)\n= 0.375"));
  EXPECT_THAT(flow_arithmetic(flow, 3, 1, 1), testing::HasSubstr("0.250 (b)\n"));
  EXPECT_THAT(flow_arithmetic(flow, 3, 0, 0), testing::HasSubstr("no key at this distance\n= 0"));
}

// ---- the soft database

TEST_F(Flow, TheSoftDatabaseAddsUpRowByRow) {
  show(FlowMode::lookup);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::self_attention, false}));  // an attention, whatever box was chosen
  EXPECT_TRUE(ui.drew("key"));
  EXPECT_TRUE(ui.drew("soft: weighted mean of all values"));
  const auto rows = static_cast<int>(base->source.size());
  ASSERT_EQ(static_cast<int>(view.lookup.shown.keys.size()), rows);
  ui.key(Key::up, draw);
  EXPECT_EQ(view.lookup.added, rows - 1);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.lookup.added, rows);
  ASSERT_TRUE(ui.click_text("exact lookup", draw));
  EXPECT_TRUE(view.lookup.exact);
  EXPECT_TRUE(ui.drew("hard max"));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::self_attention, true}));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.box, (FlowBox{FlowPart::cross_attention, true}));
}

TEST_F(Flow, ArrowKeysReachAViewThatWasClicked) {
  ASSERT_TRUE(ui.click_text("Soft database", draw));
  answer(base);
  const auto rows = static_cast<int>(base->source.size());
  ui.key(Key::up, draw);
  EXPECT_EQ(view.lookup.added, rows - 1);
  ASSERT_TRUE(ui.click_text("Batch", draw));
  answer(base);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.batch.row, 1);
}

TEST_F(Flow, WithoutKeysAndValuesTheSoftDatabaseSaysWhy) {
  for (const char* attention : {"none", "bahdanau"}) {
    ModelConfig model;
    model.architecture = "recurrent";
    model.attention = attention;
    view.mode = FlowMode::lookup;
    open(model);
    EXPECT_TRUE(ui.drew(std::string(attention) == "none" ? "this model has no attention" : "keys and values at once"));
  }
}

TEST(SoftLookup, EndsInTheHeadsOutputInWhateverOrder) {
  for (const char* positions : {"sinusoidal", "shaw", "alibi"}) {
    Snapshot snapshot = *fixture_snapshot({5, 4, 2, 4});
    snapshot.model.positions = positions;
    for (const AttentionPart part : attention_parts) {
      add_inside(snapshot, {part, 0, 1});
      const HeadInside& head = *snapshot.inside;
      const HeadStages stages = head_stages(head, head.scaled, model_mask(head));
      for (const LookupOrder order : {LookupOrder::as_written, LookupOrder::by_weight}) {
        for (int query = 0; query < head.q.rows; ++query) {
          const SoftLookup lookup = soft_lookup(head, stages, query, false, order);
          float sum = 0;
          for (std::size_t row = 0; row < lookup.keys.size(); ++row) {
            sum += lookup.weights[row];
            EXPECT_EQ(lookup.match[row], stages.masked.at(query, lookup.keys[row]));
            if (row > 0 && order == LookupOrder::by_weight) {
              EXPECT_LE(lookup.weights[row], lookup.weights[row - 1]);
            }
          }
          EXPECT_NEAR(sum, 1, 1e-5);
          for (int col = 0; col < head.v.cols; ++col)
            EXPECT_NEAR(lookup.output[static_cast<std::size_t>(col)], stages.output.at(query, col), 1e-5);
        }
      }
    }
  }
}

TEST(SoftLookup, AnExactOneGivesTheBestMatchsValue) {
  for (const char* positions : {"sinusoidal", "shaw"}) {
    Snapshot snapshot = *fixture_snapshot({5, 4, 2, 4});
    snapshot.model.positions = positions;
    add_inside(snapshot, {AttentionPart::decoder, 0, 0});
    const HeadInside& head = *snapshot.inside;
    const HeadStages stages = head_stages(head, head.scaled, model_mask(head));
    for (int query = 0; query < head.q.rows; ++query) {
      const SoftLookup lookup = soft_lookup(head, stages, query, true, LookupOrder::as_written);
      ASSERT_GE(lookup.best, 0);
      EXPECT_LE(lookup.keys[static_cast<std::size_t>(lookup.best)], query);  // what comes after is hidden
      EXPECT_EQ(lookup.weights[static_cast<std::size_t>(lookup.best)], 1);
      const int told = head.relative_v.empty() ? -1 : std::max(lookup.best - query, -2) + 2;  // the row of a^V, k = 2
      for (int col = 0; col < head.v.cols; ++col) {
        const float vector = told < 0 ? 0 : head.relative_v.at(told, col);
        EXPECT_EQ(lookup.output[static_cast<std::size_t>(col)], head.v.at(lookup.best, col) + vector) << positions;
      }
    }
  }
}

// ---- the batch

TEST_F(Flow, TheBatchShowsPiecesPaddingAndShares) {
  show(FlowMode::batch);
  ASSERT_TRUE(scope.asked.batch);
  EXPECT_FALSE(scope.asked.data_flow);
  EXPECT_TRUE(ui.drew("batch of step 13"));
  EXPECT_TRUE(ui.drew("B×S=3×4,25.0%padding"));
  EXPECT_TRUE(ui.drew("B×T=3×3,33.3%padding"));
  EXPECT_TRUE(ui.drew("12.5%"));
  EXPECT_TRUE(ui.drew("37.5%"));
  EXPECT_TRUE(ui.drew("50.0% of the values are 0"));
  ASSERT_TRUE(ui.click_text("part 2 of 2", draw));
  EXPECT_EQ(scope.asked.batch->part, 1);
}

TEST_F(Flow, TheZerosOfAnyPlaceAreAskedForAndLabelledByHeadAndPiece) {
  show(FlowMode::batch);
  EXPECT_EQ(scope.asked.batch->dropout_place, 0);
  ASSERT_TRUE(ui.click_text("source embedding", draw));
  ASSERT_TRUE(ui.click_text("cross-attention weights", draw));
  EXPECT_EQ(scope.asked.batch->dropout_place, 1);
  batch.asked.dropout_place = 1;
  batch.kept = Matrix(2 * 3, 4);  // two heads, three pieces, four keys
  show(FlowMode::batch);
  EXPECT_TRUE(ui.drew("row 1, 6×4: 100.0 %"));
  EXPECT_TRUE(ui.drew("2: " + std::string(without_mark(batch.target_in.token(0, 1)))));
}

TEST_F(Flow, ZerosThatAGraphicsCardDrawsAreNotShown) {
  batch.dropout_places.clear();
  show(FlowMode::batch);
  EXPECT_TRUE(ui.drew("Not available: a graphics card draws its dropout masks inside its own operators"));
  EXPECT_FALSE(ui.drew("of the values are 0"));
}

TEST_F(Flow, KeysAndClicksChooseAPositionOfTheTarget) {
  show(FlowMode::batch);
  EXPECT_TRUE(ui.drew("pair 1, position 1:"));
  EXPECT_TRUE(ui.drew("0.91000"));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.batch.position, 2);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.batch.row, 1);
  EXPECT_EQ(view.batch.position, 1);  // the row is shorter
  EXPECT_TRUE(ui.drew("pair 2, position 1"));
}

TEST_F(Flow, TheChosenRowIsWrittenOut) {
  batch.source.tokens[4] = "▁unmistakably";
  show(FlowMode::batch);
  EXPECT_FALSE(ui.drew("unmistakably")) << "its cell is narrower";
  ui.key(Key::down, draw);
  EXPECT_TRUE(ui.drew("unmistakably"));
}

TEST(BatchRows, AreReadAsText) {
  const BatchSide side{
      .rows = 2,
      .cols = 8,
      .ids = {1, 7, 8, 9, 10, 11, 2, 2, 1, 12, 9, 2, 2, 2, 2, 2},
      .tokens = {"<s>", "▁The", "▁", "cat", "s", ".", "</s>", "", "<s>", "</s>", "s", "</s>", "", "", "", ""}};
  EXPECT_EQ(row_text(side, 0), "<s> The cats. </s>");
  EXPECT_EQ(row_text(side, 1), "<s> </s>s </s>") << "only an id makes a sign of the end";
}

TEST_F(Flow, WithoutABatchItSaysWhy) {
  batch = {};
  batch.problem = "No batch can be shown: the corpus is gone.";
  show(FlowMode::batch);
  EXPECT_TRUE(ui.drew("the corpus is gone"));
}

TEST(BatchMasks, TheirUnionSaysForEveryCellWhatHidesIt) {
  const BatchInspection batch = fixture_batch();
  const Matrix encoder = batch_mask(batch, BatchMask::encoder, 1);  // 3 of 4 pieces
  const Matrix decoder = batch_mask(batch, BatchMask::decoder, 1);  // 2 of 3
  const Matrix cross = batch_mask(batch, BatchMask::cross, 1);
  ASSERT_EQ(encoder.rows, 4);
  ASSERT_EQ(cross.rows, 3);
  for (int query = 0; query < 4; ++query) {
    for (int key = 0; key < 4; ++key) EXPECT_EQ(encoder.at(query, key), key == 3 ? mask_padding : 0);
  }
  for (int query = 0; query < 3; ++query) {
    for (int key = 0; key < 4; ++key) EXPECT_EQ(cross.at(query, key), key == 3 ? mask_padding : 0);
  }
  EXPECT_EQ(decoder.at(0, 0), 0);
  EXPECT_EQ(decoder.at(0, 1), mask_ahead);
  EXPECT_EQ(decoder.at(1, 2), mask_ahead + mask_padding);
  EXPECT_EQ(decoder.at(2, 2), 0);  // a row of padding, which counts for nothing
}

// Marian's 0 ends a sentence, and its targets start with the piece that pads.
TEST(BatchMasks, PaddingIsWhatIsNoPieceWhateverItsId) {
  BatchInspection batch = fixture_batch();
  for (BatchSide* side : {&batch.source, &batch.target_in}) {
    for (int& id : side->ids) id = id == 0 ? 9 : id == 2 ? 0 : id;
  }
  batch.target_in.tokens[3] = "";  // of row 1
  EXPECT_EQ(batch.target_in.length(2), 1);
  const Matrix encoder = batch_mask(batch, BatchMask::encoder, 1);
  EXPECT_EQ(encoder.at(0, 2), 0);
  EXPECT_EQ(encoder.at(0, 3), mask_padding);
  EXPECT_EQ(batch_mask(batch, BatchMask::decoder, 1).at(1, 0), 0);
}

TEST(SmoothedTargets, AreOneTogether) {
  const SmoothedTarget target = smoothed_target(0.1, 2000);
  EXPECT_NEAR(target.right + 1999 * target.other, 1, 1e-12);
  EXPECT_NEAR(target.other, 0.1 / 2000, 1e-15);
  EXPECT_EQ(smoothed_target(0, 10).right, 1);
}

// ---- every view, tiny and huge

TEST_F(Flow, EveryViewFitsEveryWindow) {
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(1280, 720), ImVec2(4000, 3000)}) {
    ui.io().DisplaySize = size;
    for (const FlowMode mode : {FlowMode::architecture, FlowMode::lookup, FlowMode::batch}) {
      show(mode);
      EXPECT_GT(ui.vertices(), 100);
      for (float x = 10; x < 1200; x += 110) {
        for (float y = 30; y < 600; y += 95) ui.move({x, y}, draw);
      }
    }
  }
}

// ---- weights and gradients

TensorSpread fixture_tensor_spread(double size) {
  TensorSpread spread{.count = 100, .norm = 10 * size};
  for (std::size_t i = 0; i < spread.quantiles.size(); ++i)
    spread.quantiles[i] = size * (static_cast<double>(i) - 3) / 3;
  spread.histogram.assign(41, 1);
  spread.histogram[20] = 60;
  return spread;
}

TensorsResult fixture_tensors(const TensorsQuestion& question) {
  TensorsResult inspection{.question = question};
  for (const char* name : {"embedding.weight", "encoder.layers.0.linear1.weight"}) {
    TensorHistory history{name, {10, 10}};
    for (const std::int64_t step : {100, 200, 300})
      history.points.push_back({step, fixture_tensor_spread(static_cast<double>(step) / 100),
                                fixture_tensor_spread(0.01), step == 100 ? 0 : 0.002});
    inspection.parameters.push_back(history);
  }
  TensorHistory hidden{"encoder layer 1 feed-forward, hidden units", {3, 512}};
  hidden.points = {{300, fixture_tensor_spread(1)}};
  hidden.points.back().values.silent = 1;
  TensorHistory twice = hidden;
  twice.points.insert(twice.points.begin(), {200, fixture_tensor_spread(1)});
  inspection.activations = {hidden, twice};
  return inspection;
}

TEST_F(Flow, TensorsAreAskedForOnceAndShown) {
  show(FlowMode::spread);
  const auto studies = [&] {
    std::vector<StartStudy> found;
    for (const Command& command : scope.commands)
      if (const auto* study = std::get_if<StartStudy>(&command)) found.push_back(*study);
    return found;
  };
  ASSERT_EQ(studies().size(), 1U);
  EXPECT_TRUE(ui.drew("Measuring every tensor"));
  const auto asked = std::get<TensorsQuestion>(studies().back().question);
  EXPECT_EQ(asked.text, base->source_text);
  const auto result = std::make_shared<const StudyResult>(StudyResult{scope.a.run.run, 300, fixture_tensors(asked)});
  receive(scope, {StudyEnded{studies().back().study, result}}, nullptr);
  ui.frames(3, draw);
  EXPECT_EQ(studies().size(), 1U);
  for (const char* text : {"embedding.weight", "encoder.0.linear1.weight", "10 × 10", "norm 30",
                           "net displacement since the previous recorded step: 0.2 % per step", "Histogram at step 300",
                           "hidden units: 0 for every token"})
    EXPECT_TRUE(ui.drew(text)) << text;

  ui.key(Key::down, draw);
  EXPECT_EQ(view.spread.parameter, 1);
  ui.key(Key::left, draw);
  EXPECT_TRUE(ui.drew("Histogram at step 200"));
  EXPECT_TRUE(ui.drew("norm 20"));
  // The mean place of what has the border's color: lines at their places, and the frame of the step that is shown.
  const auto frames_x = [&] {
    std::istringstream lines(ui.drawn_shapes());
    std::uint32_t color = 0;
    int count = 0, x = 0, y = 0;
    while (lines >> std::hex >> color >> std::dec >> count >> x >> y)
      if (color == ui.skin.theme.border) return x;
    return -1;
  };
  const int of_second = frames_x();
  ui.key(Key::left, draw);
  EXPECT_LT(frames_x(), of_second);
  ui.key(Key::right, draw);
  EXPECT_EQ(frames_x(), of_second);
  ASSERT_TRUE(ui.click_text("gradient", draw));
  const auto numbers = flow_numbers(scope.views);
  ASSERT_TRUE(numbers);
  EXPECT_EQ(numbers->rows.front(), "step 100");
  EXPECT_EQ(numbers->cols.back(), "change an update");
  EXPECT_FLOAT_EQ(numbers->matrix.at(1, 11), 0.002F);

  ASSERT_TRUE(ui.click_text("activations", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("100.0 % of its units are 0"));
  EXPECT_TRUE(ui.drew("No earlier weights were recorded"));
  ui.key(Key::down, draw);
  EXPECT_EQ(view.spread.activation, 1);
  EXPECT_FALSE(ui.drew("No earlier weights were recorded"));
  ui.key(Key::up, draw);
  EXPECT_EQ(view.spread.activation, 0);
}

TEST_F(Flow, FeaturesAreAskedForInTheSentenceAndSteerTheModel) {
  NeuronsQuestion& question = view.neurons.study.question;
  question = {.place = {false, 1}, .dictionary = DictionaryOptions(), .neuron = 1};
  show(FlowMode::neurons);
  EXPECT_FALSE(scope.asked.features) << "there is no dictionary yet";
  EXPECT_TRUE(scope.asked.sublayers);
  const auto is_study = [](const Command& command) { return std::holds_alternative<StartStudy>(command); };
  const auto started = std::ranges::find_if(scope.commands, is_study);
  ASSERT_NE(started, scope.commands.end());
  const std::uint64_t study = std::get<StartStudy>(*started).study;
  NeuronsResult result{.question = question, .tokens = 100, .sentences = 10};
  result.neurons = {{.largest = 1}, {.largest = 4}};
  result.card.direction = {1, 2};
  receive(
      scope,
      {StudyEnded{study, std::make_shared<const StudyResult>(StudyResult{scope.a.run.run, 300, std::move(result)})}},
      nullptr);
  ui.frames(3, draw);
  const DictionaryKey key{300, question.place, *question.dictionary};
  EXPECT_EQ(scope.asked.features, key);
  EXPECT_FALSE(scope.asked.sublayers);

  auto snapshot = std::make_shared<Snapshot>(*base);
  snapshot->request = scope.asked.request;
  snapshot->features = {key, Matrix(static_cast<int>(snapshot->source.size()), 2)};
  snapshot->features->values.at(0, 1) = 3.25F;
  view.neurons.token = 0;
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("3.25"));
  snapshot = std::make_shared<Snapshot>(*snapshot);
  snapshot->features->of.step = 200;
  receive(scope, {}, snapshot);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("3.25")) << "another dictionary's";

  const std::vector<Steering>& steered = scope.views.of<AttentionView>().interventions.steered;
  for (int press = 0; press < 2; ++press) {
    ASSERT_TRUE(ui.click_text("Steer", draw));
    ASSERT_EQ(steered.size(), 1U);
  }
  EXPECT_EQ(steered.front(), (Steering{question.place, "feature 1", "", 4, {1, 2}, true}));
  EXPECT_TRUE(ui.drew("encoder L2: +4 × (feature 1)"));
}

TEST_F(Flow, TheActivationsThatFeaturesExplainAreChosen) {
  NeuronsQuestion& question = view.neurons.study.question;
  question = {.place = {false, 1}, .dictionary = DictionaryOptions(), .neuron = 3};
  show(FlowMode::neurons);
  ASSERT_TRUE(ui.click_text("layer output", draw));
  EXPECT_FALSE(ui.drew("cross-attention head 1")) << "the encoder has none";
  ASSERT_TRUE(ui.click_text("self-attention head 2", draw));
  EXPECT_EQ(question.dictionary->of, (ActivationSite{ActivationKind::head, false, 1}));
  EXPECT_EQ(question.neuron, strongest_neuron);
  ASSERT_TRUE(ui.click_text("decoder 1", draw));
  ASSERT_TRUE(ui.click_text("self-attention head 2", draw));
  ASSERT_TRUE(ui.click_text("cross-attention head 2", draw));
  EXPECT_EQ(question.dictionary->of, (ActivationSite{ActivationKind::head, true, 1}));
  ASSERT_TRUE(ui.click_text("encoder 1", draw));
  ui.frames(2, draw);
  EXPECT_EQ(question.dictionary->of, ActivationSite()) << "the encoder has no cross-attention";
}

TEST_F(Flow, ProbesBeginWithTheSensesThatTheCorpusKnows) {
  show(FlowMode::probes);
  ui.frames(3, draw);
  EXPECT_EQ(view.probes.study.question.label, TokenLabel::sense);
  view.probes = {};
  scope.a.run.config.corpus.source = "copy";
  ui.frames(3, draw);
  EXPECT_EQ(view.probes.study.question.label, TokenLabel::position);
}

TEST_F(Flow, ProbesAreFittedOnceAndSteer) {
  const auto studies = [&] {
    return std::ranges::count_if(scope.commands,
                                 [](const Command& command) { return std::holds_alternative<StartStudy>(command); });
  };
  for (const FlowMode mode : {FlowMode::architecture, FlowMode::lookup, FlowMode::batch}) show(mode);
  EXPECT_EQ(studies(), 0) << "nothing is computed while its view is closed";
  view.probes.begun = true;
  show(FlowMode::probes);
  ui.frames(20, draw);
  ASSERT_EQ(studies(), 1);
  const auto started = std::ranges::find_if(
      scope.commands, [](const Command& command) { return std::holds_alternative<StartStudy>(command); });
  const std::uint64_t study = std::get<StartStudy>(*started).study;
  ProbingResult result{.question = view.probes.study.question,
                       .classes = {"0", "1"},
                       .counts = {30, 10},
                       .layers = {"embedding", "layer 1"},
                       .points = {{100, {0.5, 0.625}, {0.5, 0.5}}, {300, {0.5, 0.875}, {0.375, 0.5}}}};
  result.directions.assign(2, Matrix(2, 2));
  result.directions[1].values = {1, 2, 3, 4};
  receive(
      scope,
      {StudyEnded{study, std::make_shared<const StudyResult>(StudyResult{scope.a.run.run, 300, std::move(result)})}},
      nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("40 tokens, 2 classes; the most frequent, 0, is 75.0 %"));
  EXPECT_TRUE(ui.drew("87.5 %"));
  EXPECT_TRUE(ui.drew("37.5")) << "the selectivity of layer 1";
  EXPECT_TRUE(ui.drew("Accuracy over training"));
  view.probes.chosen = 1;
  ui.frames(2, draw);
  const std::vector<Steering>& steered = scope.views.of<AttentionView>().interventions.steered;
  ASSERT_TRUE(ui.click_text("Steer", draw));
  ASSERT_EQ(steered.size(), 1U);
  EXPECT_EQ(steered.front(), (Steering{{false, 0}, "position 1", "", 1, {3, 4}, true}));
  ASSERT_TRUE(ui.click_text("embedding", draw));
  EXPECT_TRUE(ui.drew("Select a layer to steer by its probe."));
  ASSERT_TRUE(ui.click_text("bracket depth", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Fitting the probes"));
  EXPECT_EQ(studies(), 2);
}

TEST_F(Flow, TensorsAreFoundByAPartOfTheirNames) {
  show(FlowMode::spread);
  TensorsResult inspection = fixture_tensors({base->source_text});
  inspection.parameters.push_back(inspection.parameters.front());
  inspection.parameters.back().name = "encoder.layers.1.LINEAR1.weight";
  view.spread.asked = inspection.question;
  view.spread.asked_run = scope.a.run.run;
  take_tensors(view.spread, inspection, scope.a.run.run, 300);
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text("filter by name", draw));
  ui.type("linear", draw);
  ui.frames(2, draw);
  EXPECT_THAT(matching_tensors(view.spread), testing::ElementsAre(1, 2));
  EXPECT_EQ(view.spread.parameter, 0) << "typing moves nothing";
  // From the one that is not listed to the first that is, and no farther than the last.
  move_in_spreads(view.spread, 1, 0);
  EXPECT_EQ(view.spread.parameter, 1);
  move_in_spreads(view.spread, 5, 0);
  EXPECT_EQ(view.spread.parameter, 2);
  ui.type("xyz", draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("No name contains this text"));
  move_in_spreads(view.spread, -1, -1);
  EXPECT_EQ(view.spread.parameter, 2);
  ui.key(Key::enter, draw);
  view.spread.wanted = "ENCODER.0";
  EXPECT_THAT(matching_tensors(view.spread), testing::ElementsAre(1));
  move_in_spreads(view.spread, 1, 0);
  EXPECT_EQ(view.spread.parameter, 1);
}

TEST_F(Flow, TensorsGivenUpCanBeAskedForAgainAndAnotherRunsAreNotShown) {
  show(FlowMode::spread);
  const auto last = [&]() -> const StartStudy& {
    for (auto command = scope.commands.rbegin(); command != scope.commands.rend(); ++command)
      if (const auto* study = std::get_if<StartStudy>(&*command)) return *study;
    throw std::out_of_range("no study");
  };
  receive(scope, {StudyEnded{last().study, nullptr}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Not computed yet. Click Recompute to measure every tensor"));
  const std::uint64_t given_up = last().study;
  ASSERT_TRUE(ui.click_text("Recompute", draw));
  ui.frames(2, draw);
  EXPECT_GT(last().study, given_up);
  const auto result = [&](std::uint64_t run) {
    const auto asked = std::get<TensorsQuestion>(last().question);
    return std::make_shared<const StudyResult>(StudyResult{run, 300, fixture_tensors(asked)});
  };
  receive(scope, {StudyEnded{last().study, result(scope.a.run.run)}}, nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("embedding.weight"));

  RunOpened other = fixture_run(20);
  other.run = scope.a.run.run + 1;
  receive(scope, {other, Status{Activity::paused, 20, "CPU"}}, nullptr);
  auto snapshot = std::make_shared<Snapshot>(*base);
  snapshot->run = other.run;
  answer(snapshot);
  EXPECT_TRUE(ui.drew("Measuring every tensor"));
  EXPECT_FALSE(ui.drew("embedding.weight"));
}

}  // namespace
}  // namespace attnscope
