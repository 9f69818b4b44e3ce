// Which cell is where: rows downwards, columns to the right, on the screen as in vector pictures; and what the
// look-ahead mask hides of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "ui_harness.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/svg.h"

namespace attnscope {
namespace {

// No two cells alike, and none like its mirror image.
Matrix ramp(int rows, int cols) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<float>(i) / static_cast<float>(matrix.values.size());
  return matrix;
}

class HeatmapCells : public testing::Test {
 protected:
  HeatmapCells() {
    ui.skin.recorder = &recorder;
    options.legend = options.print_values = false;
  }

  Capture taken() {
    recorder.begin({{0, 0}, {1280, 720}});
    ui.panel([&] {
      layout = heatmap_layout(matrix, options, ImGui::GetCursorScreenPos(), size, ui.skin);
      draw_heatmap("m", matrix, ++version, size, options, ui.textures, ui.skin);
    });
    return recorder.end();
  }
  std::string svg() { return to_svg(taken(), ui.skin.theme.background); }

  Color32 color(int row, int col) const { return map_color(ColorMap::viridis, matrix.at(row, col)); }

  const ImVec2 size{500, 500};
  Matrix matrix = ramp(4, 6);
  std::uint64_t version = 0;
  HeatmapOptions options;
  HeatmapLayout layout;
  PictureRecorder recorder;
  UiHarness ui;
};

std::vector<float> numbers(const std::smatch& match) {
  std::vector<float> found;
  for (std::size_t i = 1; i < match.size(); ++i) found.push_back(std::strtof(match[i].str().c_str(), nullptr));
  return found;
}

TEST_F(HeatmapCells, InAVectorPictureStandWhereTheyAreOnTheScreen) {
  const std::string picture = svg();
  std::smatch group;
  ASSERT_TRUE(std::regex_search(picture, group,
                                std::regex("translate\\(([0-9.]+) ([0-9.]+)\\) scale\\(([0-9.]+) ([0-9.]+)\\)")));
  const std::vector<float> place = numbers(group);
  EXPECT_NEAR(place[0], layout.corner(0, 0).x, 0.01);
  EXPECT_NEAR(place[1], layout.corner(0, 0).y, 0.01);
  EXPECT_NEAR(place[2], layout.cell.x, 0.01);
  EXPECT_NEAR(place[3], layout.cell.y, 0.01);
  const std::regex rect("<rect x=\"(\\d+)\" y=\"(\\d+)\" width=\"1\" height=\"1\" fill=\"#(..)(..)(..)\"/>");
  std::set<std::pair<int, int>> seen;
  for (std::sregex_iterator it(picture.begin(), picture.end(), rect), end; it != end; ++it) {
    const int col = std::stoi((*it)[1]);
    const int row = std::stoi((*it)[2]);
    const auto part = [&](std::size_t group_number, int shift) {
      return static_cast<Color32>(std::stoul((*it)[group_number], nullptr, 16)) << shift;
    };
    ASSERT_TRUE(row < matrix.rows && col < matrix.cols);
    EXPECT_EQ(part(3, 0) | part(4, 8) | part(5, 16) | 0xFF000000U, color(row, col)) << row << ' ' << col;
    seen.emplace(row, col);
  }
  EXPECT_EQ(seen.size(), matrix.values.size());
}

std::string from_base64(const std::string& text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<unsigned>(digits.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 0xFFU);
  }
  return bytes;
}

TEST_F(HeatmapCells, OfAVectorPictureThatAreAnImageStandThereToo) {
  matrix = ramp(130, 150);
  const std::string picture = svg();
  std::smatch image;
  ASSERT_TRUE(std::regex_search(
      picture, image, std::regex("<image x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\"")));
  const std::vector<float> box = numbers(image);
  EXPECT_NEAR(box[0], layout.corner(0, 0).x, 0.01);
  EXPECT_NEAR(box[1], layout.corner(0, 0).y, 0.01);
  EXPECT_NEAR(box[0] + box[2], layout.corner(130, 150).x, 0.02);
  EXPECT_NEAR(box[1] + box[3], layout.corner(130, 150).y, 0.02);
  const std::string mark = "base64,";
  const std::size_t begin = picture.find(mark) + mark.size();
  const std::string png = from_base64(picture.substr(begin, picture.find('"', begin) - begin));
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(png.data()), static_cast<int>(png.size()), &width, &height,
                            &channels, 4),
      stbi_image_free);
  ASSERT_TRUE(pixels);
  ASSERT_EQ(width, 150);
  ASSERT_EQ(height, 130);
  const auto* colors = reinterpret_cast<const Color32*>(pixels.get());
  for (int row = 0; row < 130; ++row)
    for (int col = 0; col < 150; ++col) ASSERT_EQ(colors[row * 150 + col], color(row, col)) << row << ' ' << col;
}

// ---- the mask: what lies right of the diagonal, and no more

class MaskedCells : public HeatmapCells {
 protected:
  MaskedCells() { options.mask_upper = true; }

  UiHarness::Draw draw() {
    return ui.in_panel([this] { draw_heatmap("m", matrix, version, size, options, ui.textures, ui.skin); });
  }

  static constexpr std::array<std::array<int, 2>, 3> places{{{2, 1}, {2, 2}, {2, 3}}};  // left of it, on it, right
};

TEST_F(MaskedCells, HaveTheirColour) {
  taken();
  const auto& picture = ui.textures.pictures.begin()->second;
  ASSERT_EQ(picture.width, 6);
  ASSERT_EQ(picture.height, 4);
  for (int row = 0; row < 4; ++row) {
    for (int col = 0; col < 6; ++col) {
      EXPECT_EQ(picture.rgba[static_cast<std::size_t>(row * 6 + col)],
                col > row ? ui.skin.theme.masked : color(row, col));
    }
  }
}

TEST_F(MaskedCells, AreStruckOut) {
  const Capture capture = taken();
  std::multiset<std::pair<int, int>> struck;
  for (const Drawn& drawn : capture.shapes) {
    const auto* line = std::get_if<DrawnLine>(&drawn.shape);
    if (!line || line->points.size() != 2 || line->points[0].x == line->points[1].x ||
        line->points[0].y == line->points[1].y) {
      continue;
    }
    const ImVec2 middle{(line->points[0].x + line->points[1].x) / 2, (line->points[0].y + line->points[1].y) / 2};
    struck.emplace(static_cast<int>((middle.y - layout.body.y) / layout.cell.y),
                   static_cast<int>((middle.x - layout.body.x) / layout.cell.x));
  }
  std::multiset<std::pair<int, int>> expected;
  for (int row = 0; row < 4; ++row)
    for (int col = row + 1; col < 6; ++col) expected.emplace(row, col);
  EXPECT_EQ(struck, expected);
}

TEST_F(MaskedCells, HaveNoValuesAndAllOthersHave) {
  options.print_values = true;
  ui.frame(draw());
  for (int row = 0; row < 4; ++row) {
    for (int col = 0; col < 6; ++col) {
      char value[8];
      std::snprintf(value, sizeof value, "%.2f", static_cast<double>(matrix.at(row, col)));
      EXPECT_EQ(ui.drew(value), col <= row) << row << ' ' << col;
    }
  }
}

TEST_F(MaskedCells, WholeNumbersAreWrittenWhole) {
  options.print_values = true;
  options.mask_upper = false;
  for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = static_cast<float>(i) + 40;
  ui.frame(draw());
  EXPECT_TRUE(ui.drew("47"));
  EXPECT_FALSE(ui.drew("47.00"));
  matrix.values[0] = 40.5F;
  ui.frame(draw());
  EXPECT_TRUE(ui.drew("47.00")) << "as exact as its neighbours";
}

TEST_F(MaskedCells, TheAxisOfTheColumnsIsNamedAboveThem) {
  options.col_axis = "attended";
  taken();
  ASSERT_TRUE(ui.drew("attended"));
  EXPECT_LT(ui.find_text("attended")->y, layout.body.y);
}

TEST_F(MaskedCells, SayThatTheyAreWhenPointedAt) {
  taken();
  for (const auto& [row, col] : places) {
    const ImVec2 low = layout.corner(row, col);
    ui.move({low.x + layout.cell.x / 2, low.y + layout.cell.y / 2}, draw());
    ui.frames(3, draw());
    EXPECT_EQ(ui.drew("masked: look-ahead"), col > row) << row << ' ' << col;
  }
}

}  // namespace
}  // namespace attnscope
