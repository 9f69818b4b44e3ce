// Origins: dragging points, learning weights, dividing scores.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

class OriginsPanel : public testing::Test {
 protected:
  OriginsPanel() {
    scope.layout.workspace = find_workspace("origins");
    scope.layout.setup_open = scope.layout.curves_open = false;
  }

  void show(OriginsMode mode) {
    view.mode = mode;
    ui.frames(3, draw);
  }

  void keep(KeyedValues known) {
    view.points.known = std::move(known);
    ++view.points.version;
    ui.frames(2, draw);
  }

  // In the picture of the points, so many pixels right of and below its title.
  ImVec2 in_picture(float x, float y) {
    const ImVec2 title = *ui.find_text(std::to_string(view.points.known.size()) + "points");
    return {title.x + x, title.y + y};
  }

  AppState scope;
  OriginsView& view = scope.views.of<OriginsView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(OriginsPanel, NeedsNoModel) {
  show(OriginsMode::kernels);
  for (const char* text : {"40 points", "Epanechnikov", "error on clean points", "bias²", "variance",
                           "Error by kernel width", "average pooling: the widest kernel", "estimate", "query x"})
    EXPECT_TRUE(ui.drew(text)) << text;
  EXPECT_FALSE(ui.drew("Opening the run"));
}

TEST_F(OriginsPanel, PointsAreAddedDraggedAndRemovedByTheMouse) {
  show(OriginsMode::kernels);
  keep({});
  EXPECT_TRUE(ui.drew("There are no points. Click"));
  const ImVec2 first = in_picture(200, 100), second = in_picture(300, 150);
  ui.click(first, draw);
  ui.click(second, draw);
  ASSERT_EQ(view.points.known.size(), 2U);
  EXPECT_LT(view.points.known.keys[0], view.points.known.keys[1]);
  EXPECT_GT(view.points.known.values[0], view.points.known.values[1]) << "y points up";
  // Past the other one: keys stay in order.
  const KeyedValues before = view.points.known;
  ui.drag(first, {first.x + 200, first.y}, draw);
  EXPECT_EQ(view.points.known.keys[0], before.keys[1]);
  EXPECT_NEAR(view.points.known.keys[1] - before.keys[0], 2 * (before.keys[1] - before.keys[0]), 0.02);
  EXPECT_NEAR(view.points.known.values[1], before.values[0], 1e-6);
  EXPECT_EQ(view.points.chosen, 1U);
  ui.key(Key::del, draw);
  ASSERT_EQ(view.points.known.size(), 1U);
  ui.click(second, draw, 1);
  EXPECT_EQ(view.points.known.size(), 0U);
  ui.key(Key::insert, draw);
  EXPECT_EQ(view.points.known.size(), 1U);
}

TEST_F(OriginsPanel, TheCurveFollowsThePoints) {
  show(OriginsMode::kernels);
  keep({{1, 4}, {2, 6}});
  view.kernels.width = 0.5;
  ui.frames(2, draw);
  EXPECT_NEAR(view.kernels.estimate.y[10], 2, 1e-2);
  EXPECT_NEAR(view.kernels.estimate.y[25], 4, 1e-6);
  view.kernels.width = 3;
  ui.frames(2, draw);
  EXPECT_NEAR(view.kernels.estimate.y[10], 2 + 4 / (1 + std::exp(0.5)), 1e-6);
  view.kernels.width = 0.5;
  view.kernels.kernel = Kernel::boxcar;
  ui.frames(2, draw);
  EXPECT_TRUE(std::isnan(view.kernels.estimate.y[25]));
  EXPECT_TRUE(ui.drew("have no key within reach"));
}

TEST_F(OriginsPanel, KeysChangeViewWidthAndKernel) {
  show(OriginsMode::kernels);
  ui.key(Key::right, draw);
  EXPECT_NEAR(view.kernels.width, 0.55, 1e-9);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.kernels.kernel, Kernel::epanechikov);
  ui.key(Key::page_down, draw);
  EXPECT_EQ(view.mode, OriginsMode::learned);
  ui.key(Key::page_down, draw);
  EXPECT_EQ(view.mode, OriginsMode::scaling);
  ui.key(Key::right, draw);
  EXPECT_EQ(view.scaling.d, 128);
  for (int i = 0; i < 20; ++i) ui.key(Key::left, draw);
  EXPECT_EQ(view.scaling.d, 1);
}

TEST_F(OriginsPanel, NoiseMovesTheValuesAwayFromTheCurve) {
  show(OriginsMode::kernels);
  const double before = view.points.known.values[3] - clean_value(view.points.known.keys[3]);
  set_noise(view.points, 2);
  EXPECT_NEAR(view.points.known.values[3] - clean_value(view.points.known.keys[3]), 2 * before, 1e-9);
  EXPECT_EQ(view.points.noise, 2);
  set_noise(view.points, 1);
  EXPECT_NEAR(view.points.known.values[3] - clean_value(view.points.known.keys[3]), before, 1e-9);
}

TEST_F(OriginsPanel, HostileValuesAreDrawn) {
  show(OriginsMode::kernels);
  keep({{0, 0, 5}, {1e30, -1e30, NAN}});
  keep({{2}, {1}});
  for (int i = 0; i < 150; ++i) add_point(view.points, i, i);
  EXPECT_EQ(view.points.known.size(), most_points);
  for (const OriginsMode mode : {OriginsMode::kernels, OriginsMode::learned}) show(mode);
  EXPECT_LE(view.points.known.keys.back(), last_key);
}

TEST_F(OriginsPanel, TheWidthIsLearnedBeforeTheEyes) {
  show(OriginsMode::learned);
  for (const char* text :
       {"all queries at once: softmax(QK", "2 learned width", "1 learned parameter", "w = 0.500", "0 steps"})
    EXPECT_TRUE(ui.drew(text)) << text;
  const double before = view.learned.loss;
  ui.key(Key::enter, draw);
  EXPECT_TRUE(view.learned.learning);
  ui.frames(60, draw);
  EXPECT_GT(view.learned.updates, 100);
  EXPECT_LT(view.learned.loss, before);
  EXPECT_TRUE(ui.drew("error on clean points"));
  EXPECT_GT(view.learned.pooling.parameters.front(), 0.5) << "narrower than it began";
  EXPECT_TRUE(find_workspace("origins")->is_busy(scope.views));
  ui.key(Key::enter, draw);
  EXPECT_FALSE(find_workspace("origins")->is_busy(scope.views));
  ui.key(Key::home, draw);
  EXPECT_EQ(view.learned.updates, 0);
  view.learned.updates = most_updates;
  ui.key(Key::enter, draw);
  EXPECT_FALSE(view.learned.learning) << "it ends";
}

TEST_F(OriginsPanel, EveryStepIsTheFormulaChangedInOnePlace) {
  show(OriginsMode::learned);
  ASSERT_TRUE(ui.click_text("3 learned q and k", draw));
  EXPECT_EQ(view.learned.step, PoolingStep::projections);
  EXPECT_TRUE(ui.drew("12 learned parameters"));
  EXPECT_TRUE(ui.drew("W_Q"));
  ASSERT_TRUE(ui.click_text("4 several heads", draw));
  EXPECT_TRUE(ui.drew("39 learned parameters"));
  ui.key(Key::down, draw);
  EXPECT_EQ(view.learned.head, 1);
  ui.key(Key::end, draw);
  EXPECT_EQ(view.learned.updates, 1);
  ASSERT_TRUE(ui.click_text("1 kernel", draw));
  EXPECT_TRUE(ui.drew("no learned parameters"));
  ui.key(Key::enter, draw);
  EXPECT_FALSE(view.learned.learning) << "nothing to learn";
}

TEST_F(OriginsPanel, WithOnePointNothingIsLearned) {
  show(OriginsMode::learned);
  keep({{1}, {1}});
  ui.key(Key::enter, draw);
  EXPECT_FALSE(view.learned.learning);
  EXPECT_TRUE(ui.drew("needs two points"));
}

TEST_F(OriginsPanel, ScoresAreShownWithTheirVariance) {
  show(OriginsMode::scaling);
  for (const char* text : {"q·k: variance", "N(0, d)", "Softmax of query 0", "Entropy", "Jacobian"})
    EXPECT_TRUE(ui.drew(text)) << text;
  double bars = 0;
  for (const double density : view.scaling.histogram.y) bars += density;
  EXPECT_NEAR(bars * (view.scaling.histogram.x[1] - view.scaling.histogram.x[0]), 1, 0.01);
  const double variance = view.scaling.scores.variance;
  ASSERT_TRUE(ui.click_text("Draw again", draw));
  EXPECT_NE(view.scaling.scores.variance, variance);
}

TEST_F(OriginsPanel, TheDivisionIsSwitchedOffInTheModel) {
  show(OriginsMode::scaling);
  EXPECT_TRUE(ui.drew("No sentence has been evaluated yet"));
  receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
  auto untouched = fixture_snapshot({}, scope.asked.request);
  const auto two_tokens = [](float p) { return std::vector<GoldStep>{{{5, "a"}, p, 1, {}}, {{6, "b"}, p, 1, {}}}; };
  untouched->gold = two_tokens(0.5F);
  receive(scope, {}, untouched);
  show(OriginsMode::scaling);
  EXPECT_TRUE(scope.asked.inside) << "for the variance of the chosen head's q·k";
  ASSERT_TRUE(ui.click_text("scores divided by", draw));
  EXPECT_TRUE(scope.asked.interventions.other_scale);
  auto changed = std::make_shared<Snapshot>(*fixture_snapshot({}, scope.asked.request));
  changed->gold = two_tokens(0.25F);
  changed->interventions.other_scale = true;
  changed->untouched = untouched;
  receive(scope, {}, changed);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("loss 0.693")) << "ln 2";
  EXPECT_TRUE(ui.drew("1.386 nats per token")) << "ln 4";
  EXPECT_TRUE(ui.drew("Unmodified model") || ui.drew("Back to the unmodified model"));
  ASSERT_TRUE(ui.click_text("scores divided by", draw));
  EXPECT_TRUE(scope.views.of<AttentionView>().interventions.empty());
}

TEST_F(OriginsPanel, ARecurrentModelHasNoDivision) {
  ModelConfig recurrent;
  recurrent.architecture = "recurrent";
  receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
  receive(scope, {}, snapshot_of_model(recurrent, scope.asked.request));
  show(OriginsMode::scaling);
  EXPECT_TRUE(ui.drew("attention is not divided by"));
  EXPECT_FALSE(ui.drew("scores divided by"));
}

TEST_F(OriginsPanel, TheLearningRateIsDrawnBeforeAnyTraining) {
  show(OriginsMode::schedule);
  EXPECT_TRUE(ui.drew("peak 0.000699 at step 4 000")) << "1/√(512 · 4000)";
  EXPECT_FALSE(ui.drew("this run"));
  const ScheduleView& schedule = view.schedule;
  EXPECT_NEAR(rate_at(schedule, 1), std::pow(512, -0.5) * std::pow(4000, -1.5), 1e-15);
  EXPECT_NEAR(rate_at(schedule, 4000), std::pow(512.0 * 4000, -0.5), 1e-15);
  EXPECT_NEAR(rate_at(schedule, 16'000), rate_at(schedule, 4000) / 2, 1e-15);
  const auto highest = std::ranges::max_element(schedule.planned.y) - schedule.planned.y.begin();
  EXPECT_EQ(schedule.planned.x[static_cast<std::size_t>(highest)], 4000);
  ui.key(Key::right, draw);
  EXPECT_GT(schedule.warmup, 4000);
  ui.key(Key::up, draw);
  EXPECT_GT(schedule.d_model, 512);
}

// The angle from one feature's direction to the next one's, anticlockwise: sorted by direction.
std::vector<double> angles_between(const ToyModel& model) {
  std::vector<double> directions, angles;
  for (int feature = 0; feature < model.features(); ++feature)
    directions.push_back(std::atan2(model.column(feature)[1], model.column(feature)[0]) * 180 / std::numbers::pi);
  std::ranges::sort(directions);
  for (std::size_t i = 0; i < directions.size(); ++i)
    angles.push_back(i + 1 < directions.size() ? directions[i + 1] - directions[i]
                                               : directions.front() + 360 - directions.back());
  return angles;
}

TEST(Superposition, FiveSparseFeaturesFormAPentagon) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    ToyModel model(5, seed);
    for (int i = 0; i < most_toy_steps; ++i) model.step({.count = 5, .sparsity = 0.9});
    for (const double angle : angles_between(model)) EXPECT_NEAR(angle, 72, 5);
    for (int feature = 0; feature < 5; ++feature) EXPECT_GT(model.product(feature, feature), 0.8);
  }
}

TEST(Superposition, OfDenseFeaturesTheTwoMostImportantOnesAreOrthogonal) {
  ToyModel model(5, 1);
  for (int i = 0; i < most_toy_steps; ++i) model.step({.count = 5, .sparsity = 0, .importance = 0.7});
  for (int feature = 0; feature < 5; ++feature)
    EXPECT_NEAR(model.product(feature, feature), feature < 2 ? 1 : 0, 0.05) << feature;
  EXPECT_NEAR(model.product(0, 1), 0, 0.05);
  for (int feature = 2; feature < 5; ++feature)
    EXPECT_NEAR(model.bias(feature), 0.5, 0.1) << "the mean of what is not represented";
}

TEST_F(OriginsPanel, SuperpositionIsTrainedLiveAndAgainAfterEveryChange) {
  show(OriginsMode::superposition);
  EXPECT_TRUE(find_workspace("origins")->is_busy(scope.views));
  const int before = view.superposition.steps;
  ui.frames(10, draw);
  EXPECT_GT(view.superposition.steps, before);
  while (view.superposition.learning) ui.frames(1, draw);
  EXPECT_EQ(view.superposition.steps, most_toy_steps);
  EXPECT_FALSE(find_workspace("origins")->is_busy(scope.views));
  EXPECT_TRUE(ui.drew("5 of 5 features are represented"));
  EXPECT_LT(view.superposition.losses.y[200], view.superposition.losses.y[0] / 2);
  const auto numbers = *find_workspace("origins")->numbers(scope.views);
  EXPECT_FLOAT_EQ(numbers.matrix.at(1, 2), static_cast<float>(view.superposition.model.product(1, 2)));
  ui.key(Key::home, draw);
  EXPECT_LT(view.superposition.steps, most_toy_steps);
  EXPECT_TRUE(view.superposition.learning);
  ui.key(Key::enter, draw);
  EXPECT_FALSE(view.superposition.learning);
}

TEST_F(OriginsPanel, TheRunsOwnRateLiesOverIt) {
  RunOpened run = fixture_run(20);
  run.config.model.d_model = 64;
  run.config.training.warmup_steps = 50;
  receive(scope, {run, Status{Activity::paused, 20, "CPU"}}, nullptr);
  show(OriginsMode::schedule);
  EXPECT_EQ(view.schedule.d_model, 64);
  EXPECT_EQ(view.schedule.warmup, 50);
  EXPECT_TRUE(ui.drew("this run"));
  ui.key(Key::right, draw);
  ASSERT_TRUE(ui.click_text("Use run's values", draw));
  EXPECT_EQ(view.schedule.warmup, 50);
}

TEST_F(OriginsPanel, TheNumbersShownAreThoseExported) {
  EXPECT_FALSE(has_numbers(scope)) << "nothing has been drawn";
  show(OriginsMode::kernels);
  ASSERT_TRUE(has_numbers(scope));
  const auto kernels = *find_workspace("origins")->numbers(scope.views);
  EXPECT_EQ(kernels.matrix.rows, 50);
  EXPECT_EQ(kernels.matrix.cols, 42);
  EXPECT_EQ(kernels.cols.size(), 42U);
  EXPECT_FLOAT_EQ(kernels.matrix.at(7, 1), static_cast<float>(view.kernels.estimate.y[7]));
  show(OriginsMode::scaling);
  const auto scaling = *find_workspace("origins")->numbers(scope.views);
  EXPECT_EQ(scaling.matrix.rows, 16);
  EXPECT_FLOAT_EQ(scaling.matrix.at(2, 1), scaling.matrix.at(2, 0) / 8) << "√64";
  EXPECT_EQ(scaling.title, "scores at d 64");
}

}  // namespace
}  // namespace attnscope
