// The workspace of positions: vectors that turn, wavelengths, and how far heads look.
#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "shell/export.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/positions/modes.h"
#include "workspaces/positions/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

class PositionsPanel : public testing::Test {
 protected:
  PositionsPanel() {
    scope.layout.workspace = find_workspace("positions");
    scope.layout.setup_open = scope.layout.curves_open = false;
  }

  void receive_snapshot(std::shared_ptr<Snapshot> snapshot) {
    receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
    snapshot->request = scope.asked.request;
    receive(scope, {}, snapshot);
  }

  void show(PositionsMode mode) {
    view.mode = mode;
    ui.frames(3, draw);
  }

  AppState scope;
  PositionsView& view = scope.views.of<PositionsView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

// ---- arithmetic

TEST(Rope, TurnsTheFirstPairByARadianAndTheLastHardly) {
  EXPECT_DOUBLE_EQ(rope_angle(0, 32), 1);
  EXPECT_NEAR(rope_angle(8, 32), 1e-2, 1e-12);
  EXPECT_NEAR(rope_angle(15, 32), std::pow(10000, -30.0 / 32), 1e-15);
}

TEST(Rope, ProductsDependOnTheDistance) {
  TurningView view;
  view.width = 4;
  settle(view);
  EXPECT_DOUBLE_EQ(view.product.y[0], 1);
  EXPECT_NEAR(view.product.y[5], (std::cos(5) + std::cos(0.05)) / 2, 1e-12);
}

TEST(Wavelengths, GoFromTwoPiToTenThousandTimesThat) {
  EXPECT_DOUBLE_EQ(wavelength(0, 512), 2 * std::numbers::pi);
  EXPECT_NEAR(wavelength(255, 512) / (2 * std::numbers::pi), std::pow(10000, 510.0 / 512), 1e-6);
  WavelengthsView view;
  settle(view);
  EXPECT_EQ(view.lengths.x.size(), 64U);
  EXPECT_EQ(view.waves.size(), view.wave_names.size());
}

TEST(Wavelengths, ASineIsTheEncodings) {
  WavelengthsView view;
  view.far = 1200;  // a sample a position
  settle(view);
  const int dimension = static_cast<int>(view.lengths.x[32]);  // the third wave's
  EXPECT_EQ(view.wave_names[2], "2i = 64");
  EXPECT_NEAR(view.waves[2].y[100], std::sin(100 / std::pow(10000, dimension / 128.0)), 1e-9);
}

TEST(Wavelengths, WhatIsTooFastToBeDrawnIsABand) {
  WavelengthsView view;
  view.far = most_far;
  settle(view);
  for (std::size_t i = 0; i + 1 < view.waves[0].y.size(); ++i) ASSERT_EQ(view.waves[0].y[i], -view.waves[0].y[i + 1]);
}

TEST(Locality, IsTheMeanDistanceOfALayersHeads) {
  auto snapshot = fixture_snapshot({.source = 3, .layers = 1, .heads = 2});
  Matrix straight(3, 3), away(3, 3);
  straight.values = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  away.values = {0, 0, 1, 1, 0, 0, 1, 0, 0};  // 2, 1 and 2 pieces away
  snapshot->encoder = {{straight, away}};
  LocalityView view;
  settle(view, snapshot);
  EXPECT_NEAR(view.heads[0].distance, 0, 1e-6);
  EXPECT_NEAR(view.heads[1].distance, 5.0 / 3, 1e-6);
  EXPECT_NEAR(view.heads[1].alike, 8.0 / 9, 1e-6) << "(1 + 2/3 + 1)/3";
  EXPECT_NEAR(view.parts[0].means.y[0], 5.0 / 6, 1e-6);
}

// ---- the window

TEST_F(PositionsPanel, VectorsTurnWithoutAModel) {
  show(PositionsMode::turning);
  for (const char* text : {"query at m", "key at n", "q·k by distance", "distance |m"})
    EXPECT_TRUE(ui.drew(text)) << text;
  ui.key(Key::right, draw);
  ui.key(Key::down, draw);
  EXPECT_EQ(view.turning.query - view.turning.key, 10);
  EXPECT_EQ(view.turning.axis.marker, 10);
  ui.key(Key::enter, draw);
  EXPECT_EQ(view.turning.query - view.turning.key, 10) << "together";
  for (int i = 0; i < 2 * last_position; ++i) move_both(view.turning);
  EXPECT_EQ(view.turning.query, last_position);
  EXPECT_EQ(view.turning.query - view.turning.key, 10);
}

TEST_F(PositionsPanel, WavesAreDrawnPastTheLimit) {
  show(PositionsMode::wavelengths);
  EXPECT_TRUE(ui.drew("length limit 128"));
  EXPECT_TRUE(ui.drew("2i = 126"));
  ui.key(Key::right, draw);
  EXPECT_EQ(view.wavelengths.far, 2048);
  EXPECT_EQ(view.wavelengths.waves[0].x.back(), 2048);
}

TEST_F(PositionsPanel, HowLocalHeadsLook) {
  show(PositionsMode::locality);
  EXPECT_TRUE(ui.drew("No sentence has been decoded yet"));
  receive_snapshot(fixture_snapshot({}));
  show(PositionsMode::locality);
  EXPECT_TRUE(ui.drew("Mean distance by layer"));
  EXPECT_EQ(view.locality.heads.size(), 16U);
  const auto numbers = *find_workspace("positions")->numbers(scope.views);
  EXPECT_EQ(numbers.rows[5], "encoder L2 H2");
  EXPECT_EQ(numbers.matrix.rows, 16);
}

TEST_F(PositionsPanel, OnePieceHasNowhereElseToLook) {
  receive_snapshot(fixture_snapshot({.source = 1, .target = 1}));
  show(PositionsMode::locality);
  EXPECT_TRUE(ui.drew("self-attention needs at least two tokens"));
  EXPECT_FALSE(find_workspace("positions")->numbers(scope.views));
}

TEST_F(PositionsPanel, ARecurrentNetworkHasNoDistances) {
  ModelConfig recurrent;
  recurrent.architecture = "recurrent";
  receive_snapshot(snapshot_of_model(recurrent));
  for (const PositionsMode mode : {PositionsMode::turning, PositionsMode::wavelengths}) show(mode);
  show(PositionsMode::locality);
  EXPECT_TRUE(ui.drew("a recurrent network has no self-attention"));
}

TEST_F(PositionsPanel, NoNumbersAreDrawnToo) {
  auto snapshot = fixture_snapshot({});
  for (auto& layer : snapshot->encoder)
    for (Matrix& map : layer) std::ranges::fill(map.values, std::nanf(""));
  receive_snapshot(snapshot);
  show(PositionsMode::locality);
  EXPECT_TRUE(ui.drew("Mean distance by layer"));
}

TEST(ShuffledWords, HaveNoNumbersBeforeTheyAreMeasured) {
  EXPECT_FALSE(order_numbers(OrdersView{}));
}

TEST_F(PositionsPanel, TheButtonsOfShuffledWordsSayWhatTheyDo) {
  receive_snapshot(fixture_snapshot({}));
  show(PositionsMode::shuffled);
  const auto button = ui.find_text("Shuffle again");
  ASSERT_TRUE(button);
  ui.move(*button, draw);
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("Shuffles the words again"));
}

TEST_F(PositionsPanel, KeysChangeTheView) {
  receive_snapshot(fixture_snapshot({}));
  show(PositionsMode::numbers);
  EXPECT_TRUE(find_workspace("positions")->numbers(scope.views));
  EXPECT_TRUE(ui.drew("dimension (click one to draw its curve)")) << "what a click on the matrix does";
  ui.key(Key::page_down, draw);
  EXPECT_EQ(view.mode, PositionsMode::turning);
  ui.key(Key::page_up, draw);
  EXPECT_EQ(view.mode, PositionsMode::numbers);
}

}  // namespace
}  // namespace attnscope
