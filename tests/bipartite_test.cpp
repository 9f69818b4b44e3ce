// The two columns of tokens and the lines between them, under an injected mouse.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ui_harness.h"
#include "widgets/bipartite.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

using Side = BipartiteSide;

Matrix matrix_of(int rows, int cols, std::vector<float> values) {
  Matrix matrix(rows, cols);
  matrix.values = std::move(values);
  return matrix;
}

struct BipartiteTest : testing::Test {
  UiHarness ui;
  PictureRecorder recorder;
  std::vector<std::string> rows{"le", "chat", "noir"};
  std::vector<std::string> cols{"the", "black", "cat", "dot"};
  Matrix first = matrix_of(3, 4,
                           {0.7F, 0.1F, 0.1F, 0.1F,  //
                            0, 0, 1, 0,              //
                            0, 0.75F, 0.25F, 0});
  Matrix second = matrix_of(3, 4, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  std::vector<const Matrix*> heads{&first};
  BipartiteData data;
  BipartiteState state;
  BipartiteResult result;
  std::vector<BipartiteToken> clicked;
  ImVec2 size{600, 400};
  Capture capture;
  UiHarness::Draw draw = ui.in_panel([this] {
    data.heads = heads;
    data.row_labels = rows;
    data.col_labels = cols;
    result = draw_bipartite("b", data, state, size, ui.skin);
    if (result.clicked) clicked.push_back(*result.clicked);
  });

  BipartiteTest() { ui.skin.recorder = &recorder; }

  template <class Kind>
  std::vector<Kind> drawn() {
    recorder.begin({{0, 0}, ui.io().DisplaySize});
    ui.frame(draw);
    capture = recorder.end();
    std::vector<Kind> found;
    for (const Drawn& shape : capture.shapes)
      if (const Kind* kind = std::get_if<Kind>(&shape.shape)) found.push_back(*kind);
    return found;
  }
  std::vector<DrawnLine> lines() { return drawn<DrawnLine>(); }
  std::vector<DrawnRect> boxes() {
    std::vector<DrawnRect> rects = drawn<DrawnRect>();
    std::erase_if(rects, [](const DrawnRect& rect) { return rect.thickness > 0; });
    return rects;
  }
  void hover(std::string_view text) { ui.move(*ui.find_text(text), draw); }
  void leave() { ui.move({1000, 700}, draw); }
};

TEST_F(BipartiteTest, dashes_the_lines_of_what_is_negative) {
  heads = {&first, &second};
  ui.frame(draw);
  const std::size_t all = lines().size();
  EXPECT_EQ(all, 10U);
  data.first_dashed = 1;
  const std::vector<DrawnLine> pieces = lines();
  ASSERT_THAT(pieces, SizeIs(7 + 3 * 9));
  const float whole = pieces[0].points[1].x - pieces[0].points[0].x;
  EXPECT_NEAR(pieces.back().points[1].x - pieces.back().points[0].x, whole / 17, 0.01F);
  EXPECT_EQ(pieces.back().points[1].x, pieces[0].points[1].x) << "the last dash ends at the key";
}

TEST_F(BipartiteTest, draws_a_line_a_weight_as_opaque_as_it) {
  ui.frame(draw);
  for (const char* label : {"le", "chat", "noir", "the", "black", "cat", "dot"}) EXPECT_TRUE(ui.drew(label)) << label;
  const std::vector<DrawnLine> all = lines();
  ASSERT_THAT(all, SizeIs(7));
  EXPECT_EQ(all[0].color >> 24, 179U);  // 0.7
  EXPECT_EQ(all[4].color >> 24, 255U);
  EXPECT_GT(all[4].thickness, all[1].thickness);
  EXPECT_LT(all[0].points[0].x, all[0].points[1].x);  // from the query to the key
  EXPECT_THAT(boxes(), IsEmpty());
  EXPECT_LT(ui.find_text("chat")->x, ui.find_text("black")->x);
}

TEST_F(BipartiteTest, hover_isolates_a_query_and_tells_its_weights) {
  ui.frame(draw);
  hover("noir");
  EXPECT_EQ(result.hovered, (BipartiteToken{Side::queries, 2}));
  EXPECT_THAT(lines(), SizeIs(2));
  EXPECT_THAT(boxes(), SizeIs(3));  // its own and two of keys
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("attends to"));
  EXPECT_TRUE(ui.drew("0.7500  black"));
  EXPECT_TRUE(ui.drew("0.2500  cat"));
  EXPECT_FALSE(ui.drew("0.0000"));
  leave();
  EXPECT_FALSE(result.hovered);
  EXPECT_THAT(lines(), SizeIs(7));
}

TEST_F(BipartiteTest, hover_isolates_a_key) {
  ui.frame(draw);
  hover("cat");
  EXPECT_EQ(result.hovered, (BipartiteToken{Side::keys, 2}));
  EXPECT_THAT(lines(), SizeIs(3));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("is attended to by"));
  EXPECT_TRUE(ui.drew("1.0000  chat"));
}

TEST_F(BipartiteTest, click_pins_and_a_second_click_lets_go) {
  ui.frame(draw);
  ui.click(*ui.find_text("le"), draw);
  ASSERT_THAT(clicked, SizeIs(1));
  EXPECT_EQ(clicked[0], (BipartiteToken{Side::queries, 0}));
  EXPECT_EQ(state.pinned, clicked[0]);
  leave();
  EXPECT_THAT(lines(), SizeIs(4));
  hover("chat");  // looked at meanwhile
  EXPECT_THAT(lines(), SizeIs(1));
  leave();
  EXPECT_THAT(lines(), SizeIs(4));
  ui.click(*ui.find_text("le"), draw);
  EXPECT_FALSE(state.pinned);
  leave();
  EXPECT_THAT(lines(), SizeIs(7));
}

TEST_F(BipartiteTest, heads_have_their_colours_and_share_the_tooltip) {
  heads = {&first, &second};
  const std::vector<Color32> colors{0xFF112233U, 0xFF445566U};
  data.colors = colors;
  ui.frame(draw);
  std::set<Color32> seen;
  for (const DrawnLine& line : lines()) seen.insert(line.color & 0x00FFFFFFU);
  EXPECT_EQ(seen, (std::set<Color32>{0x112233U, 0x445566U}));
  hover("chat");
  EXPECT_THAT(lines(), SizeIs(2));
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("mean of 2 heads"));
  EXPECT_TRUE(ui.drew("0.5000  cat"));
  EXPECT_TRUE(ui.drew("0.5000  dot"));
}

TEST_F(BipartiteTest, masked_keys_have_no_lines) {
  data.mask_upper = true;
  EXPECT_THAT(lines(), SizeIs(3));  // le → the, noir → black and cat
}

TEST_F(BipartiteTest, headings_stand_over_the_columns) {
  data.row_axis = "query";
  data.col_axis = "key";
  ui.frame(draw);
  ASSERT_TRUE(ui.drew("query"));
  EXPECT_LT(ui.find_text("query")->y, ui.find_text("le")->y);
  EXPECT_LT(ui.find_text("query")->x, ui.find_text("key")->x);
}

TEST_F(BipartiteTest, survives_nothing_one_and_sizes_that_do_not_match) {
  heads = {};
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("nothing to show yet"));
  heads = {nullptr};
  EXPECT_THAT(lines(), IsEmpty());
  const Matrix none;
  heads = {&none, &first};
  rows = cols = {};
  EXPECT_THAT(lines(), SizeIs(7));  // numbers in place of labels
  EXPECT_TRUE(ui.drew("0123"));
  rows = {"a"};
  cols = {"b"};
  EXPECT_THAT(lines(), SizeIs(1));
  rows.assign(20, "more");
  cols.assign(30, "labels");
  EXPECT_THAT(lines(), SizeIs(7));
  state.pinned = BipartiteToken{Side::keys, 29};
  EXPECT_THAT(lines(), IsEmpty());
  cols.assign(2, "fewer");
  EXPECT_THAT(lines(), SizeIs(3));
  EXPECT_FALSE(state.pinned);
  size = {1, 1};
  ui.frame(draw);
}

struct LongBipartiteTest : BipartiteTest {
  static constexpr int length = 512;
  std::vector<Matrix> matrices;

  LongBipartiteTest() {
    rows.clear();
    for (int i = 0; i < length; ++i) rows.push_back("piece" + std::to_string(i) + "x");
    cols = rows;
  }
  void use(int count, float near, float far) {
    matrices.assign(static_cast<std::size_t>(count), Matrix(length, length));
    heads.clear();
    for (Matrix& matrix : matrices) {
      for (int i = 0; i < length; ++i)
        for (int k = 0; k < length; ++k) matrix.at(i, k) = i == k ? near : far;
      heads.push_back(&matrix);
    }
  }
};

TEST_F(LongBipartiteTest, scrolls) {
  use(1, 1, 0);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("piece0x"));
  EXPECT_FALSE(ui.drew("piece511x"));
  EXPECT_THAT(lines(), SizeIs(testing::AllOf(testing::Gt(20U), testing::Lt(60U))));
  for (int i = 0; i < 30; ++i) ui.wheel({50, 200}, -100, draw);
  EXPECT_TRUE(ui.drew("piece511x"));
  EXPECT_FALSE(ui.drew("piece0x"));
}

TEST_F(LongBipartiteTest, draws_the_largest_weights_when_there_are_too_many) {
  use(8, 0.5F, 0.01F);
  ui.frames(2, draw);
  const std::vector<DrawnLine> some = lines();
  EXPECT_LE(some.size(), 4000U);
  EXPECT_THAT(some, testing::Each(testing::Field(&DrawnLine::color, testing::Ge(0x80000000U))));
  EXPECT_NEAR(result.least_drawn, 4 / 255.0F, 1e-6F);
  EXPECT_LT(ui.vertices(), 65536);
}

TEST_F(LongBipartiteTest, keeps_to_what_indices_can_count_when_all_weights_are_alike) {
  use(8, 1, 1);
  ui.frames(2, draw);
  EXPECT_THAT(lines(), SizeIs(testing::AllOf(testing::Gt(3000U), testing::Le(4000U))));
  EXPECT_LT(ui.vertices(), 65536);
}

}  // namespace
}  // namespace attnscope
