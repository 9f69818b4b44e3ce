// Pictures that are taken away: what is kept of what is painted, as SVG, and matrices as text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stb_image.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "common/matrix_text.h"
#include "ui_harness.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/painter.h"
#include "widgets/plot.h"
#include "files/storage/png.h"
#include "widgets/svg.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const PictureArea whole_screen{{0, 0}, {1280, 720}};
const ImVec2 map_size{400, 400};

Matrix ramp(int rows, int cols) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<float>(i) / static_cast<float>(matrix.values.size());
  return matrix;
}

std::string hex(Color32 color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", color & 0xFFU, color >> 8 & 0xFFU, color >> 16 & 0xFFU);
  return text;
}

// The first group of every match.
std::vector<std::string> all(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) found.push_back((*it)[1]);
  return found;
}

std::vector<std::string> texts(const std::string& svg) {
  return all(svg, "<text[^>]*>([^<]*)</text>");
}

// Every cell's colour, row by row, from rectangles that stand for runs of cells.
std::vector<std::string> cell_colors(const std::string& svg) {
  const std::regex rect("<rect x=\"(\\d+)\" y=\"(\\d+)\" width=\"(\\d+)\" height=\"1\" fill=\"(#[0-9a-f]{6})\"/>");
  std::vector<std::string> colors;
  for (std::sregex_iterator it(svg.begin(), svg.end(), rect), end; it != end; ++it)
    for (int i = 0; i < std::stoi((*it)[3]); ++i) colors.push_back((*it)[4]);
  return colors;
}

// Every element that is opened is closed in its turn.
bool is_balanced(const std::string& svg) {
  const std::regex tag("<(/?)([A-Za-z]+)[^>]*?(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(svg.begin(), svg.end(), tag), end; it != end; ++it) {
    if ((*it)[1] == "/") {
      if (open.empty() || open.back() != (*it)[2]) return false;
      open.pop_back();
    } else if ((*it)[3] != "/") {
      open.push_back((*it)[2]);
    }
  }
  return open.empty();
}

struct PictureTest : testing::Test {
  UiHarness ui;
  PictureRecorder recorder;

  PictureTest() { ui.skin.recorder = &recorder; }

  Capture take(const UiHarness::Draw& draw, PictureArea area = whole_screen) {
    recorder.begin(area);
    ui.panel(draw);
    return recorder.end();
  }
  std::string svg(const UiHarness::Draw& draw, PictureArea area = whole_screen) {
    return to_svg(take(draw, area), ui.skin.theme.background);
  }
};

TEST_F(PictureTest, heatmap_has_its_cells_and_its_labels) {
  const Matrix matrix = ramp(2, 3);
  const std::vector<std::string> rows{"le", "chat"};
  const std::vector<std::string> cols{"\u2581the", "cat", "</s>"};
  HeatmapOptions options;
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = "query";
  const std::string picture = svg([&] { draw_heatmap("m", matrix, 1, map_size, options, ui.textures, ui.skin); });
  std::vector<std::string> expected;
  for (const float value : matrix.values) expected.push_back(hex(map_color(ColorMap::viridis, value)));
  EXPECT_EQ(cell_colors(picture), expected);
  for (const char* text : {"le", "chat", "\u2581the", "cat", "&lt;/s&gt;", "query", "0.17"})
    EXPECT_THAT(texts(picture), testing::Contains(text));
  EXPECT_THAT(picture, HasSubstr("viewBox=\"0 0 1280 720\""));
  EXPECT_THAT(picture, HasSubstr("transform=\"rotate(-90 "));  // the row axis
  EXPECT_TRUE(is_balanced(picture));
}

TEST_F(PictureTest, equal_cells_beside_one_another_are_one_rectangle) {
  Matrix matrix(2, 4);
  matrix.at(1, 3) = 1;
  HeatmapOptions options;
  options.legend = options.print_values = false;
  const std::string picture = svg([&] { draw_heatmap("m", matrix, 1, map_size, options, ui.textures, ui.skin); });
  EXPECT_THAT(all(picture, "<rect x=\"\\d+\" y=\"\\d+\" width=\"(\\d+)\" height=\"1\""), ElementsAre("4", "3", "1"));
}

TEST_F(PictureTest, many_cells_are_an_image) {
  const Matrix matrix = ramp(129, 128);
  const std::string picture = svg([&] { draw_heatmap("m", matrix, 1, map_size, {}, ui.textures, ui.skin); });
  EXPECT_THAT(picture, HasSubstr("data:image/png;base64,iVBORw0KGgo"));
  EXPECT_THAT(cell_colors(picture), IsEmpty());
  EXPECT_TRUE(is_balanced(picture));
}

TEST_F(PictureTest, of_the_same_things_is_the_same) {
  const Matrix matrix = ramp(9, 7);
  const Series series{{0, 1, 2, 3}, {4, 1, 3, 2}};
  const PlotLine line{"loss", &series, 0xFF00FF00U};
  const auto draw_on = [&](UiHarness& harness) {
    return [&] {
      PlotAxis axis;
      PlotView view;
      draw_heatmap("m", matrix, 1, map_size, {}, harness.textures, harness.skin);
      draw_plot("p", {&line, 1}, {400, 200}, axis, view, {.title = "Loss"}, harness.skin);
    };
  };
  const std::string first = svg(draw_on(ui));
  EXPECT_EQ(svg(draw_on(ui)), first);
}

TEST_F(PictureTest, not_being_taken_costs_nothing_and_being_taken_changes_nothing) {
  const Matrix matrix = ramp(9, 7);
  const std::vector<std::string> labels(9, "an uncommonly long piece");
  HeatmapOptions options;
  options.col_labels = labels;
  const auto draw = [&] { draw_heatmap("m", matrix, 1, map_size, options, ui.textures, ui.skin); };
  ui.panel(draw);
  const int idle = ui.vertices();
  EXPECT_THAT(recorder.end().shapes, IsEmpty());
  EXPECT_THAT(take(draw).shapes, Not(IsEmpty()));
  EXPECT_EQ(ui.vertices(), idle);
  ui.skin.recorder = nullptr;
  ui.panel(draw);
  EXPECT_EQ(ui.vertices(), idle);
  EXPECT_EQ(ui.textures.uploads, 1);
}

TEST_F(PictureTest, text_is_escaped_whatever_its_bytes) {
  const auto draw = [&] {
    Painter(ui.skin).text(ui.skin.fonts.mono, {10, 10}, 0xFFFFFFFFU,
                          "a<b>&\"\x01\xFF\xC3 \xF0\x9F\x98\x80\xED\xA0\x80");
  };
  const std::string picture = svg(draw);
  EXPECT_THAT(texts(picture), ElementsAre("a&lt;b&gt;&amp;\"\uFFFD\uFFFD\uFFFD \U0001F600\uFFFD\uFFFD\uFFFD"));
  EXPECT_THAT(picture, HasSubstr("xml:space=\"preserve\""));
  EXPECT_THAT(picture, HasSubstr("JetBrains Mono"));
}

TEST_F(PictureTest, text_stands_on_its_baseline) {
  ImFont* font = ui.skin.fonts.small;
  const std::string picture = svg([&] { Painter(ui.skin).text(font, {10.7F, 20}, 0xFFFFFFFFU, "a"); });
  EXPECT_THAT(all(picture, "<text x=\"(\\d+)\""), ElementsAre("10"));  // Dear ImGui begins at whole pixels
  EXPECT_THAT(all(picture, "<text x=\"10\" y=\"([0-9.]+)\""),
              ElementsAre(std::to_string(20 + std::lround(font_ascent(font)))));
}

TEST_F(PictureTest, holds_its_area_alone_measured_from_its_corner) {
  const auto draw = [&] {
    Painter paint(ui.skin);
    paint.filled_rect({110, 220}, {130, 230}, 0x80332211U);
    paint.filled_rect({10, 10}, {20, 20}, 0xFF0000FFU);
    paint.line({600, 100}, {700, 100}, 0xFF0000FFU);
    paint.line({std::numeric_limits<float>::quiet_NaN(), 220}, {200, 220}, 0xFF0000FFU);
  };
  const PictureArea area{{100, 200}, {200, 300}};
  const std::string picture = svg(draw, area);
  EXPECT_EQ(take(draw, area).shapes.size(), 1U);
  EXPECT_THAT(picture, HasSubstr("viewBox=\"0 0 100 100\""));
  EXPECT_THAT(picture, HasSubstr("<rect x=\"10\" y=\"20\" width=\"20\" height=\"10\" fill=\"#112233\" "
                                 "fill-opacity=\"0.502\"/>"));
}

TEST_F(PictureTest, clips_only_what_is_cut) {
  const auto draw = [&] {
    Painter paint(ui.skin);
    paint.push_clip({100, 100}, {200, 200});
    paint.filled_rect({110, 110}, {120, 120}, 0xFF000001U);
    paint.filled_rect({190, 110}, {300, 120}, 0xFF000002U);
    paint.filled_rect({190, 130}, {300, 140}, 0xFF000003U);
    paint.filled_rect({210, 110}, {300, 120}, 0xFF000004U);
    paint.pop_clip();
    paint.filled_rect({210, 110}, {300, 120}, 0xFF000005U);
  };
  const std::string picture = svg(draw);
  EXPECT_EQ(all(picture, "(<clipPath id=\"clip0\"><rect x=\"100\" y=\"100\" width=\"100\" height=\"100\"/>)").size(),
            1U);
  EXPECT_EQ(all(picture, "(<g clip-path=\"url\\(#clip0\\)\">)").size(), 1U);
  EXPECT_LT(picture.find("#010000"), picture.find("<g clip"));
  EXPECT_GT(picture.find("#030000"), picture.find("<g clip"));
  EXPECT_LT(picture.find("#030000"), picture.find("</g>"));
  EXPECT_EQ(picture.find("#040000"), std::string::npos);
  EXPECT_GT(picture.find("#050000"), picture.find("</g>"));
  EXPECT_TRUE(is_balanced(picture));
}

TEST_F(PictureTest, empty_area_is_a_file_all_the_same) {
  EXPECT_TRUE(is_balanced(to_svg({}, 0xFF000000U)));
  EXPECT_THAT(to_svg({}, 0xFF000000U), HasSubstr("viewBox=\"0 0 0 0\""));
}

TEST_F(PictureTest, note_in_place_of_a_picture_is_broken_into_lines) {
  const std::string picture = svg([&] {
    draw_quiet_note("nothing of this kind can be shown\nyet", {120, 200}, ui.skin);
  });
  EXPECT_THAT(texts(picture), testing::SizeIs(testing::Ge(3U)));
  EXPECT_EQ(texts(picture).back(), "yet");
}

// ---- what another program makes of it

struct Pixels {
  int width = 0;
  int height = 0;
  std::vector<Color32> colors;
  Color32 at(ImVec2 position) const {
    return colors[static_cast<std::size_t>(position.y) * static_cast<std::size_t>(width) +
                  static_cast<std::size_t>(position.x)];
  }
};

Pixels from_png(const std::string& bytes) {
  Pixels pixels;
  int channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> read(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &pixels.width, &pixels.height, &channels, 4),
      stbi_image_free);
  const auto* begin = reinterpret_cast<const Color32*>(read.get());
  if (begin) pixels.colors.assign(begin, begin + static_cast<std::ptrdiff_t>(pixels.width) * pixels.height);
  return pixels;
}

// Rendered by rsvg-convert; nothing if it cannot.
Pixels rendered(const std::string& svg) {
  const std::string stem = testing::TempDir() + "attnscope_picture_" + std::to_string(std::rand());
  std::ofstream(stem + ".svg") << svg;
  const std::string command = "rsvg-convert -o '" + stem + ".png' '" + stem + ".svg'";
  if (std::system(command.c_str()) != 0) return {};
  std::ifstream file(stem + ".png", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::remove((stem + ".svg").c_str());
  std::remove((stem + ".png").c_str());
  return from_png(bytes);
}

bool rsvg_is_here() {
  return std::system("command -v rsvg-convert >/dev/null 2>&1") == 0;
}

int difference(Color32 a, Color32 b) {
  int largest = 0;
  for (int shift = 0; shift < 24; shift += 8)
    largest = std::max(largest, std::abs(static_cast<int>(a >> shift & 0xFFU) - static_cast<int>(b >> shift & 0xFFU)));
  return largest;
}

TEST_F(PictureTest, drawn_by_rsvg_has_the_colours_of_the_cells) {
  if (!rsvg_is_here()) GTEST_SKIP() << "rsvg-convert (Debian: librsvg2-bin) is not installed";
  for (const int side : {9, 150}) {  // as rectangles and as an image
    const Matrix matrix = ramp(side, side);
    HeatmapOptions options;
    options.print_values = false;
    HeatmapLayout layout;
    const Pixels pixels = rendered(svg([&] {
      layout = heatmap_layout(matrix, options, ImGui::GetCursorScreenPos(), map_size, ui.skin);
      draw_heatmap("m", matrix, static_cast<std::uint64_t>(side), map_size, options, ui.textures, ui.skin);
    }));
    ASSERT_EQ(pixels.width, 1280);
    ASSERT_EQ(pixels.height, 720);
    for (int row = 0; row < side; row += 4)
      for (int col = 0; col < side; col += 4) {
        const ImVec2 middle{layout.body.x + (static_cast<float>(col) + 0.5F) * layout.cell.x,
                            layout.body.y + (static_cast<float>(row) + 0.5F) * layout.cell.y};
        EXPECT_LE(difference(pixels.at(middle), map_color(ColorMap::viridis, matrix.at(row, col))), 3)
            << "row " << row << ", column " << col << " of " << side;
      }
    EXPECT_EQ(difference(pixels.at({1000, 600}), ui.skin.theme.background), 0);
    const ImVec2 legend{layout.legend_x + 5, layout.body.y};
    EXPECT_LE(difference(pixels.at({legend.x, legend.y + 2}), map_color(ColorMap::viridis, 1)), 12);
  }
}

TEST_F(PictureTest, drawn_by_rsvg_has_the_lines_of_a_plot) {
  if (!rsvg_is_here()) GTEST_SKIP() << "rsvg-convert (Debian: librsvg2-bin) is not installed";
  const Series flat{{0, 50, 100}, {0.25, 0.25, 0.25}};
  const PlotLine line{"flat", &flat, 0xFF2040F0U};
  PlotAxis axis;
  PlotView view;
  view.window = PlotRange{0, 1};
  const Pixels pixels = rendered(svg(
      [&] {
        draw_plot("p", {&line, 1}, {600, 400}, axis, view, {.title = "Loss"}, ui.skin);
      },
      {{0, 0}, {620, 420}}));
  ASSERT_EQ(pixels.width, 620);
  std::vector<float> found;
  for (float y = 40; y < 400; ++y)
    if (difference(pixels.at({300, y}), line.color) < 40) found.push_back(y);
  ASSERT_THAT(found, Not(IsEmpty()));
  EXPECT_NEAR(found.front(), 300, 12);  // a quarter above the bottom
  EXPECT_LE(found.back() - found.front(), 3);
}

TEST(Png, holds_the_pixels) {
  const std::vector<Color32> colors{0xFF0000FFU, 0x8000FF00U, 0xFFFF0000U, 0xFF102030U, 0, 0xFFFFFFFFU};
  const Pixels pixels = from_png(encode_png(colors, 3, 2));
  EXPECT_EQ(pixels.width, 3);
  EXPECT_EQ(pixels.height, 2);
  EXPECT_EQ(pixels.colors, colors);
}

// ---- matrices as text

TEST(MatrixText, csv_quotes_what_would_be_misread) {
  Matrix matrix(2, 3);
  matrix.values = {0.1F, 1, 1e-7F, -0.25F, std::numeric_limits<float>::quiet_NaN(), 0.33333334F};
  const std::vector<std::string> rows{"a,b", "plain"};
  const std::vector<std::string> cols{"say \"it\"", "two\nlines", "\u2581x"};
  EXPECT_EQ(matrix_csv(matrix, rows, cols),
            ",\"say \"\"it\"\"\",\"two\nlines\",\u2581x\n"
            "\"a,b\",0.1,1,1e-07\n"
            "plain,-0.25,nan,0.33333334\n");
}

TEST(MatrixText, csv_numbers_what_has_no_labels) {
  EXPECT_EQ(matrix_csv(Matrix(2, 1), {}, {}), ",0\n0,0\n1,0\n");
  EXPECT_EQ(matrix_csv({}, {}, {}), "\n");
  const std::vector<std::string> too_few{"a"};
  EXPECT_EQ(matrix_csv(Matrix(2, 1), too_few, {}), ",0\na,0\n,0\n");
}

TEST(MatrixText, json_reads_back) {
  Matrix matrix(1, 3);
  matrix.values = {0.1F, std::numeric_limits<float>::infinity(), -2};
  const std::vector<std::string> rows{"\xFF\"q\""};
  const std::string text = matrix_json(matrix, rows, {});
  EXPECT_THAT(text, HasSubstr("[[0.1,null,-2.0]]"));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["rows"][0], "\uFFFD\"q\"");
  EXPECT_EQ(json["cols"], (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(json["values"][0][0].get<float>(), 0.1F);
}

}  // namespace
}  // namespace attnscope
