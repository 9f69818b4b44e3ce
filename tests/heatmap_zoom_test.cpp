// Large heatmaps: zoom and pan, bars along the edges, small pictures of many cells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ui_harness.h"
#include "widgets/bipartite.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/heatmap_picture.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

using testing::SizeIs;

Matrix ramp(int rows, int cols) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<float>(i) / static_cast<float>(matrix.values.size());
  return matrix;
}

struct ZoomTest : testing::Test {
  UiHarness ui{{800, 600}};
  Matrix matrix = ramp(100, 100);
  HeatmapZoom zoom;
  HeatmapOptions options;
  HeatmapResult result;
  std::vector<HeatmapResult> clicks;
  UiHarness::Draw draw = ui.in_panel([this] {
    result = draw_heatmap("map", matrix, 1, {700, 500}, options, ui.textures, ui.skin);
    if (result.clicked || result.label_clicked) clicks.push_back(result);
  });

  ZoomTest() { options.zoom = &zoom; }

  HeatmapLayout layout() const {
    const ImVec2 origin{ImGui::GetStyle().WindowPadding.x, ImGui::GetStyle().WindowPadding.y};
    return heatmap_layout(matrix, options, origin, {700, 500}, ui.skin);
  }
  ImVec2 middle(int row, int col) const {
    const ImVec2 low = layout().corner(row, col);
    const ImVec2 high = layout().corner(row + 1, col + 1);
    return {(low.x + high.x) / 2, (low.y + high.y) / 2};
  }
};

TEST_F(ZoomTest, TheWheelKeepsTheCellUnderTheCursor) {
  const ImVec2 at = middle(40, 70);
  for (int i = 0; i < 8; ++i) {
    ui.wheel(at, 1, draw);
    ui.frames(2, draw);
    EXPECT_EQ(result.row, 40);
    EXPECT_EQ(result.col, 70);
  }
  EXPECT_GT(zoom.scale, 4);
  EXPECT_GT(zoom.row, 1);
  for (int i = 0; i < 20; ++i) ui.wheel(at, -1, draw);
  EXPECT_EQ(zoom.scale, 1);
  ui.frames(2, draw);
  EXPECT_EQ(layout().first.x, 0);
  EXPECT_EQ(result.row, 40);
}

TEST_F(ZoomTest, ZoomsNoCloserThanACellCanBeSeen) {
  for (int i = 0; i < 60; ++i) ui.wheel(middle(50, 50), 1, draw);
  EXPECT_LE(layout().cell.y, 65);
  EXPECT_EQ(result.row, 50);
  EXPECT_EQ(result.col, 50);
}

TEST_F(ZoomTest, DragPansWithinTheMatrixAndIsNoClick) {
  zoom = {4, 10, 10};
  ui.frames(2, draw);
  const ImVec2 at = layout().body;
  const float cell = layout().cell.x;
  ui.drag({at.x + 200, at.y + 200}, {at.x + 200 - 2 * cell, at.y + 200}, draw);
  EXPECT_NEAR(zoom.col, 12, 0.5);
  EXPECT_NEAR(zoom.row, 10, 0.1);
  for (int i = 0; i < 6; ++i) ui.drag({at.x + 10, at.y + 10}, {at.x + 300, at.y + 300}, draw);
  ui.frames(2, draw);
  EXPECT_EQ(layout().first.x, 0);
  EXPECT_EQ(layout().first.y, 0);
  for (int i = 0; i < 12; ++i) ui.drag({at.x + 300, at.y + 300}, {at.x + 10, at.y + 10}, draw);
  EXPECT_NEAR(layout().corner(100, 100).x, layout().end().x, 0.5);
  EXPECT_THAT(clicks, SizeIs(0));
}

TEST_F(ZoomTest, ADoubleClickShowsAllAgain) {
  zoom = {4, 10, 10};
  ui.frames(2, draw);
  ui.double_click({layout().body.x + 100, layout().body.y + 100}, draw);
  EXPECT_EQ(zoom.scale, 1);
  EXPECT_THAT(clicks, SizeIs(1));  // the second one is none on the cell that came there
}

TEST_F(ZoomTest, CloserCellsHaveTheirLabelsAndValues) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back("n" + std::to_string(i) + "x");
  options.row_labels = names;
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("n41x"));
  zoom = {12, 40, 40};
  ui.frames(2, draw);
  for (const char* name : {"n41x", "n42x", "n43x"}) EXPECT_TRUE(ui.drew(name)) << name;
  EXPECT_FALSE(ui.drew("n10x"));
  EXPECT_TRUE(ui.drew("0.41"));
  EXPECT_LT(ui.vertices(), 8000);
}

TEST_F(ZoomTest, LabelsAndBarsArePointedAtAndClicked) {
  matrix = ramp(5, 5);
  const std::vector<float> values{0.1F, 0.2F, 0.3F, 0.4F, 0.5F};
  options.row_bars = {values, 0.5F, "spread", "nats", "how spread"};
  options.col_bars = {values, 0.5F, "sum", "", "how much"};
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("spread"));
  const HeatmapLayout at = layout();
  ui.move({at.body.x - 8, middle(3, 0).y}, draw);
  EXPECT_EQ(result.row_label, 3);
  EXPECT_EQ(result.row, -1);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("spread: 0.4 nats"));
  ui.click({at.bars.x + 5, middle(2, 0).y}, draw);
  ui.click({middle(0, 4).x, at.bars.y + 5}, draw);
  EXPECT_TRUE(ui.drew("sum: 0.5"));
  ui.click({middle(0, 1).x, at.body.y - 8}, draw);
  ASSERT_THAT(clicks, SizeIs(3));
  EXPECT_EQ(clicks[0].row_label, 2);
  EXPECT_EQ(clicks[1].col_label, 4);
  EXPECT_EQ(clicks[2].col_label, 1);
  EXPECT_FALSE(clicks[2].clicked);
}

TEST(ThumbnailOfManyCells, KeepsABrightLine) {
  UiHarness ui;
  Matrix matrix(512, 512);
  for (int row = 0; row < 512; ++row) matrix.at(row, 301) = 1;
  ui.frame(ui.in_panel([&] { draw_thumbnail("t", matrix, 1, {60, 60}, {}, ui.textures, ui.skin); }));
  const auto& picture = ui.textures.pictures.begin()->second;
  ASSERT_EQ(picture.width, 64);
  ASSERT_EQ(picture.height, 64);
  for (std::size_t row = 0; row < 64; ++row) {
    EXPECT_EQ(picture.rgba[row * 64 + 37], map_color(ColorMap::viridis, 1));  // 301 / 8
    EXPECT_EQ(picture.rgba[row * 64 + 38], map_color(ColorMap::viridis, 0));
  }
}

TEST(ThumbnailOfManyCells, IsPaintedAgainWhenAPixelHasMoreCells) {
  UiHarness ui;
  Matrix matrix(5, 5);
  matrix.at(0, 3) = 1;
  const auto paint = [&](int shrink) {
    ui.frame(ui.in_panel([&] {
      Painter painter(ui.skin);
      paint_matrix(painter, {0, 0}, {60, 60}, matrix, 1, {}, ui.textures, shrink, Sharing::shared);
    }));
    const auto& picture = ui.textures.pictures.begin()->second;
    EXPECT_EQ(picture.width, 2);  // 5 cells in pixels of 3 or of 4
    return picture.rgba[1];
  };
  EXPECT_EQ(paint(3), map_color(ColorMap::viridis, 1));
  EXPECT_EQ(paint(4), map_color(ColorMap::viridis, 0));
}

TEST(ThumbnailOfManyCells, HidesWhatTheMaskHides) {
  UiHarness ui;
  Matrix matrix(130, 130);
  for (int i = 0; i < 130; ++i) matrix.at(i, i) = 1;
  ThumbnailOptions options;
  options.mask_upper = true;
  ui.frame(ui.in_panel([&] { draw_thumbnail("t", matrix, 1, {60, 60}, options, ui.textures, ui.skin); }));
  const auto& picture = ui.textures.pictures.begin()->second;
  ASSERT_EQ(picture.width, 44);  // three cells a pixel; the last has one
  for (std::size_t i = 0; i < 44; ++i) EXPECT_EQ(picture.rgba[i * 44 + i], map_color(ColorMap::viridis, 1)) << i;
  EXPECT_EQ(picture.rgba[1], ui.skin.theme.masked);
}

TEST(BipartiteFromElsewhere, APiecePointedAtInAnotherPictureShowsItsLinesAlone) {
  UiHarness ui;
  const Matrix matrix = ramp(6, 6);
  const std::vector<const Matrix*> heads{&matrix};
  BipartiteData data;
  BipartiteState state;
  data.heads = heads;
  data.high = 1;
  const auto draw = ui.in_panel([&] { draw_bipartite("b", data, state, {600, 400}, ui.skin); });
  ui.frame(draw);
  const int all = ui.vertices();
  data.pointed = BipartiteToken{BipartiteSide::queries, 3};
  ui.frame(draw);
  EXPECT_LT(ui.vertices(), all);
  data.pointed = BipartiteToken{BipartiteSide::queries, 600};  // gone
  ui.frame(draw);
  EXPECT_EQ(ui.vertices(), all);
}

TEST(BipartiteFromElsewhere, SmallWeightsCanBeDrawnInFull) {
  UiHarness ui;
  Matrix matrix(1, 1);
  matrix.at(0, 0) = 0.001F;  // too faint to be drawn
  const std::vector<const Matrix*> heads{&matrix};
  BipartiteData data;
  BipartiteState state;
  data.heads = heads;
  const auto draw = ui.in_panel([&] { draw_bipartite("b", data, state, {600, 400}, ui.skin); });
  ui.frame(draw);
  const int faint = ui.vertices();
  data.high = 0.001F;
  ui.frame(draw);
  EXPECT_GT(ui.vertices(), faint);
}

}  // namespace
}  // namespace attnscope
