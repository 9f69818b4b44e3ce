// Colours, maps, token strips, splitters and the file browser, under an injected mouse and keyboard.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ui_harness.h"
#include "widgets/card_grid.h"
#include "widgets/file_browser.h"
#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"
#include "widgets/splitter.h"
#include "widgets/token_strip.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

using testing::ElementsAre;

int red(Color32 color) {
  return static_cast<int>(color & 0xFFU);
}
int green(Color32 color) {
  return static_cast<int>(color >> 8 & 0xFFU);
}
int blue(Color32 color) {
  return static_cast<int>(color >> 16 & 0xFFU);
}

TEST(ColorMap, viridis_ends_and_middle_are_matplotlibs) {
  const auto expect_near = [](Color32 color, int r, int g, int b) {
    EXPECT_NEAR(red(color), r, 4);
    EXPECT_NEAR(green(color), g, 4);
    EXPECT_NEAR(blue(color), b, 4);
    EXPECT_EQ(color >> 24, 255U);
  };
  expect_near(map_color(ColorMap::viridis, 0), 68, 1, 84);
  expect_near(map_color(ColorMap::viridis, 0.5F), 33, 145, 140);
  expect_near(map_color(ColorMap::viridis, 1), 253, 231, 37);
}

TEST(ColorMap, clamps_and_marks_what_is_no_number) {
  for (const ColorMap map : {ColorMap::viridis, ColorMap::blue_orange, ColorMap::blue_red}) {
    EXPECT_EQ(map_color(map, -3), map_color(map, 0));
    EXPECT_EQ(map_color(map, 7), map_color(map, 1));
    EXPECT_EQ(map_color(map, std::numeric_limits<float>::infinity()), map_color(map, 1));
    EXPECT_EQ(map_color(map, std::numeric_limits<float>::quiet_NaN()), 0xFF808080U);
  }
}

TEST(ColorMap, diverging_maps_are_blue_below_and_warm_above) {
  for (const ColorMap map : {ColorMap::blue_orange, ColorMap::blue_red}) {
    EXPECT_GT(blue(map_color(map, 0.2F)), red(map_color(map, 0.2F)));
    EXPECT_GT(red(map_color(map, 0.8F)), blue(map_color(map, 0.8F)));
  }
}

TEST(ColorMap, text_is_readable_on_both_ends) {
  EXPECT_LT(red(text_on(map_color(ColorMap::viridis, 1))), 50);
  EXPECT_GT(red(text_on(map_color(ColorMap::viridis, 0))), 200);
  EXPECT_EQ(faded(0xFF123456U, 0.5F), 0x80123456U);
  EXPECT_EQ(mixed(0xFF000000U, 0xFF0000FFU, 0.5F) & 0xFFU, 128U);
}

TEST(Theme, names_are_read_and_written) {
  EXPECT_EQ(theme_from(theme_text(ThemeName::light)), ThemeName::light);
  EXPECT_EQ(theme_from(theme_text(ThemeName::dark)), ThemeName::dark);
  EXPECT_EQ(theme_from("neon"), ThemeName::dark);
}

// ---- titles where there is little room

TEST(Titles, a_cards_title_ends_in_dots_before_the_range_of_its_colours) {
  UiHarness ui;
  const CardTitle title{"q·k ÷ √8 + KERPLE", "", ColorMap::viridis, 0, 1};
  const auto draw = [&](float width) {
    ui.panel([&] {
      draw_card_title(title, width, ui.skin);
      ImGui::Dummy({});  // the card
    });
  };
  draw(400);
  EXPECT_TRUE(ui.drew("KERPLE"));
  EXPECT_FALSE(ui.drew("…KERPLE"));
  draw(170);
  EXPECT_FALSE(ui.drew("KERPLE"));
  EXPECT_TRUE(ui.drew("q·k"));
}

TEST(Titles, a_heading_ends_in_dots_at_the_windows_edge) {
  UiHarness ui{{120, 200}};
  const std::string title = "Attention of every head to the source";
  ui.panel([&] { draw_caption(title.c_str(), "layer × head", "", ui.skin); });
  const float room = 120 - 2 * ImGui::GetStyle().WindowPadding.x;
  const std::string shown = shortened(ui.skin.fonts.bold, title, room);
  const std::size_t letters = shown.find("…");
  ASSERT_NE(letters, std::string::npos);
  EXPECT_TRUE(ui.drew(title.substr(0, letters)));
  EXPECT_FALSE(ui.drew(title.substr(0, letters + 1)));
}

// ---- text from outside

TEST(OutsideText, lists_show_every_sign_of_it) {
  UiHarness ui;
  const std::vector<std::string> tokens = {"##ing", "C## and F###", "so \xF0\x9F\x98\x80"};
  int chosen = 0;
  const auto draw = ui.in_panel([&] {
    if (!begin_combo("##pieces", tokens[static_cast<std::size_t>(chosen)])) return;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (selectable_text(tokens[i], static_cast<int>(i) == chosen)) chosen = static_cast<int>(i);
    }
    ImGui::EndCombo();
  });
  ui.frame(draw);
  ASSERT_TRUE(ui.drew("##ing")) << "Dear ImGui itself ends a label there";
  ASSERT_TRUE(ui.click_text("##ing", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew(sizeof(ImWchar) > 2 ? "so " : "so [1F600]"));
  ASSERT_TRUE(ui.click_text("C## and F###", draw));
  EXPECT_EQ(chosen, 1);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("C## and F###"));
  EXPECT_FALSE(ui.drew("##ing"));
}

TEST(OutsideText, buttons_show_every_sign_of_it) {
  UiHarness ui;
  const std::string emoji = "##3 and \xF0\x9F\x98\x80";
  std::string pressed;
  const auto draw = ui.in_panel([&] {
    for (const std::string& text : {std::string("to notes##2"), emoji})
      if (text_button(text)) pressed = text;
    if (small_text_button("F### small")) pressed = "small";
    ImGui::SameLine();
    ImGui::TextUnformatted("beside");
  });
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("to notes##2", draw));
  EXPECT_EQ(pressed, "to notes##2");
  ASSERT_TRUE(ui.click_text(sizeof(ImWchar) > 2 ? "##3 and " : "##3 and [1F600]", draw));
  EXPECT_EQ(pressed, emoji);
  ASSERT_TRUE(ui.click_text("F### small", draw));
  EXPECT_EQ(pressed, "small");
  EXPECT_NEAR(ui.find_text("F### small")->y, ui.find_text("beside")->y, 1) << "on one line";
}

// ---- heatmap

Matrix ramp(int rows, int cols) {
  Matrix matrix(rows, cols);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    matrix.values[i] = static_cast<float>(i) / static_cast<float>(matrix.values.size());
  return matrix;
}

struct HeatmapTest : testing::Test {
  UiHarness ui;
  Matrix matrix = ramp(3, 4);
  std::uint64_t version = 1;
  HeatmapOptions options;
  HeatmapResult result;
  HeatmapResult clicked;  // the last result that said clicked
  UiHarness::Draw draw = ui.in_panel([this] {
    result = draw_heatmap("map", matrix, version, {400, 400}, options, ui.textures, ui.skin);
    if (result.clicked) clicked = result;
  });

  ImVec2 middle(int row, int col) {
    const ImVec2 origin{ImGui::GetStyle().WindowPadding.x, ImGui::GetStyle().WindowPadding.y};
    const HeatmapLayout layout = heatmap_layout(matrix, options, origin, {400, 400}, ui.skin);
    return {layout.body.x + (static_cast<float>(col) + 0.5F) * layout.cell.x,
            layout.body.y + (static_cast<float>(row) + 0.5F) * layout.cell.y};
  }
};

TEST_F(HeatmapTest, hover_names_the_cell_and_shows_its_value) {
  const std::vector<std::string> rows{"le", "chat", "noir"};
  const std::vector<std::string> cols{"the", "black", "cat", "</s>"};
  options.row_labels = rows;
  options.col_labels = cols;
  options.print_values = false;
  ui.move(middle(1, 2), draw);
  EXPECT_EQ(result.row, 1);
  EXPECT_EQ(result.col, 2);
  EXPECT_FALSE(result.clicked);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("0.5")) << ui.drawn_text();  // 6 of 12
  ui.move({700, 600}, draw);
  EXPECT_EQ(result.row, -1);
  EXPECT_FALSE(ui.drew("0.5"));
}

TEST_F(HeatmapTest, click_is_reported_once_with_its_cell) {
  ui.click(middle(2, 3), draw);
  EXPECT_TRUE(clicked.clicked);
  EXPECT_EQ(clicked.row, 2);
  EXPECT_EQ(clicked.col, 3);
  EXPECT_FALSE(result.clicked);
}

TEST_F(HeatmapTest, is_uploaded_only_when_something_about_it_changed) {
  ui.frames(10, draw);
  EXPECT_EQ(ui.textures.uploads, 1);
  version = 2;
  ui.frames(10, draw);
  EXPECT_EQ(ui.textures.uploads, 2);
  options.high = 0.5F;
  ui.frames(2, draw);
  EXPECT_EQ(ui.textures.uploads, 3);
  options.map = ColorMap::blue_orange;
  ui.frames(2, draw);
  EXPECT_EQ(ui.textures.uploads, 4);
  options.mask_upper = true;
  ui.frames(2, draw);
  EXPECT_EQ(ui.textures.uploads, 5);
  EXPECT_EQ(ui.textures.pictures.size(), 1U);
}

TEST_F(HeatmapTest, texture_holds_a_row_of_the_matrix_a_row) {
  options.mask_upper = true;
  ui.frame(draw);
  const auto& picture = ui.textures.pictures.begin()->second;
  ASSERT_EQ(picture.width, 4);
  ASSERT_EQ(picture.height, 3);
  EXPECT_EQ(picture.rgba[0], map_color(ColorMap::viridis, 0));
  EXPECT_EQ(picture.rgba[1], ui.skin.theme.masked);
  EXPECT_EQ(picture.rgba[4], map_color(ColorMap::viridis, matrix.at(1, 0)));
  EXPECT_EQ(picture.rgba[10], map_color(ColorMap::viridis, matrix.at(2, 2)));
}

TEST_F(HeatmapTest, masked_cell_says_why) {
  options.mask_upper = true;
  ui.move(middle(0, 2), draw);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("masked: look-ahead"));
}

TEST_F(HeatmapTest, tooltip_can_be_the_callers) {
  options.tooltip = [](int row, int col) { ImGui::Text("cell %d/%d", row, col); };
  ui.move(middle(2, 1), draw);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("cell 2/1"));
}

TEST_F(HeatmapTest, prints_values_where_cells_are_large) {
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("0.08"));
  matrix = ramp(64, 64);
  ++version;
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("0.08"));
}

TEST_F(HeatmapTest, empty_one_by_one_and_large) {
  matrix = {};
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("nothing to show yet"));
  EXPECT_EQ(ui.textures.uploads, 0);
  matrix = ramp(1, 1);
  ui.move(middle(0, 0), draw);
  EXPECT_EQ(result.row, 0);
  EXPECT_EQ(result.col, 0);
  matrix = ramp(512, 512);
  ++version;
  ui.move(middle(511, 511), draw);
  EXPECT_GE(result.row, 510);  // cells are smaller than the pixels a mouse can point at
  EXPECT_GE(result.col, 510);
  EXPECT_EQ(ui.textures.pictures.begin()->second.rgba.size(), 512U * 512U);
  EXPECT_LT(ui.vertices(), 10000);  // a picture, not a rectangle a cell
}

TEST_F(HeatmapTest, labels_are_thinned_but_the_hovered_one_is_always_there) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("row" + std::to_string(i) + "x");
  matrix = ramp(200, 200);
  options.row_labels = names;
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("row0x"));
  EXPECT_FALSE(ui.drew("row1x"));
  ui.move(middle(101, 7), draw);
  EXPECT_TRUE(ui.drew("row101x"));
}

TEST_F(HeatmapTest, what_the_selected_column_tells_is_labelled) {
  std::vector<std::string> names;
  for (int i = 0; i < 200; ++i) names.push_back("row" + std::to_string(i) + "x");
  matrix = Matrix(200, 200);
  matrix.at(101, 5) = 1;
  matrix.at(57, 5) = 0.5F;
  matrix.at(143, 5) = 0.01F;
  options.row_labels = names;
  options.selected_col = 5;
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("row101x"));
  EXPECT_TRUE(ui.drew("row57x"));
  EXPECT_FALSE(ui.drew("row143x"));
  EXPECT_TRUE(ui.drew("row0x")) << "and every so many of the others";
}

TEST_F(HeatmapTest, numbers_are_printed_where_the_longest_fits) {
  matrix = ramp(3, 9);
  for (float& value : matrix.values) value = 0.5F;
  options.square = false;
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("0.50"));
  for (float& value : matrix.values) value = 12.41F;
  options.high = 1234.5F;
  ++version;
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("12.41"));
}

TEST_F(HeatmapTest, long_column_labels_are_slanted_short_ones_level) {
  const std::vector<std::string> short_names{"a", "b", "c", "d"};
  const std::vector<std::string> long_names(4, "an uncommonly long piece");
  options.col_labels = short_names;
  EXPECT_FALSE(heatmap_layout(matrix, options, {0, 0}, {400, 400}, ui.skin).slanted);
  options.col_labels = long_names;
  const HeatmapLayout layout = heatmap_layout(matrix, options, {0, 0}, {400, 400}, ui.skin);
  EXPECT_TRUE(layout.slanted);
  EXPECT_GT(layout.body.y, 50);
  EXPECT_GT(layout.cell.x, 10);
}

TEST(Shortened, cuts_whole_characters) {
  UiHarness ui;
  const ImFont* font = ui.skin.fonts.ui;
  EXPECT_EQ(shortened(font, "short", 500), "short");
  const std::string cut = shortened(font, "\u2581\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9", 50);
  EXPECT_TRUE(cut.ends_with("\u2026"));
  EXPECT_TRUE(cut.starts_with("\u2581"));
  EXPECT_EQ((cut.size() - 6) % 2, 0U) << "half a character is left";
  const std::string letters = letters_that_fit(font, "\u2581\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9", 50);
  EXPECT_LE(text_size(font, letters).x, 50);
  EXPECT_GT(text_size(font, letters + "\u00E9").x, 50);
  EXPECT_EQ((letters.size() - 3) % 2, 0U) << "half a character is left";
  EXPECT_EQ(letters_that_fit(font, "short", 500), "short");
  EXPECT_EQ(letters_that_fit(font, "short", 1), "");
  EXPECT_EQ(shortened_at_start(font, "short", 500), "short");
  const std::string end = shortened_at_start(font, "\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u00E9\u2581", 50);
  EXPECT_TRUE(end.starts_with("\u2026"));
  EXPECT_TRUE(end.ends_with("\u2581"));
  EXPECT_EQ(end.size() % 2, 0U) << "half a character is left";
  EXPECT_EQ(shortened_at_start(font, "\u00E9\u00E9", 1), "\u2026");
}

TEST(WrappedLines, EndBetweenWordsAndNotInsideANumber) {
  UiHarness ui;
  const ImFont* font = ui.skin.fonts.ui;
  const std::string text = "the norm is 43.65, the share 0.00929 of it; 10,000 steps, 15 % of them\n\nthe end";
  for (float width = 100; width < 600; width += 3) {
    std::string joined;
    for (const std::string_view line : wrapped_lines(font, text, width)) {
      EXPECT_LE(text_size(font, line).x, width) << line;
      EXPECT_FALSE(line.ends_with("43.") || line.ends_with("0.") || line.ends_with("10,")) << line;
      EXPECT_FALSE(line.starts_with("%")) << line;
      joined += line;
    }
    std::erase(joined, ' ');
    EXPECT_EQ(joined, "thenormis43.65,theshare0.00929ofit;10,000steps,15%ofthemtheend") << "at " << width;
  }
  const auto narrow = wrapped_lines(font, "0.123456789", 40);
  EXPECT_GT(narrow.size(), 1U) << "what is wider than a line is cut";
}

std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

TEST(WrappedLines, ChineseBreaksBetweenCharactersButNotBeforeACommaOrAfterAnOpeningQuote) {
  UiHarness ui;
  const ImFont* font = ui.skin.fonts.ui;
  const std::string text = "分数是查询与键的点积：d 个乘积之和。“向量”越长，和可能越大。";
  const float width = text_size(font, "分数是查询与键的").x + 1;
  std::string joined;
  for (const std::string_view line : wrapped_lines(font, text, width)) {
    EXPECT_LE(text_size(font, line).x, width) << line;
    EXPECT_GE(text_size(font, line).x, width / 3) << line << ": a line is not left almost empty";
    for (const char* closing : {"，", "。", "：", "”"}) EXPECT_FALSE(line.starts_with(closing)) << line;
    EXPECT_FALSE(line.ends_with("“")) << line;
    joined += line;
  }
  EXPECT_EQ(without_spaces(joined), without_spaces(text));
}

TEST(WrappedLines, AreThoseOfTextInAPanel) {
  UiHarness ui;
  for (float width = 80; width < 400; width += 7) {
    ui.panel([&] {
      ImGui::BeginChild("narrow", {width, 0});
      wrapped_text(ui.skin.theme.text, "mean -0.00766, largest 12.41, of them 31.52 % zeros");
      ImGui::EndChild();
    });
    for (const auto& [number, end] : {std::pair("0.00766", "766"), {"12.41", "41"}, {"31.52", "52"}}) {
      ASSERT_TRUE(ui.drew(number));
      EXPECT_EQ(ui.find_text(number)->y, ui.find_text(end)->y) << number << " at " << width;
    }
  }
}

TEST(Thumbnail, is_a_button) {
  UiHarness ui;
  const Matrix matrix = ramp(5, 5);
  int presses = 0;
  const auto draw = ui.in_panel([&] {
    if (draw_thumbnail("t", matrix, 1, {60, 60}, {}, ui.textures, ui.skin)) ++presses;
    if (draw_thumbnail("none", {}, 1, {60, 60}, {}, ui.textures, ui.skin)) presses += 100;
  });
  ui.click({30, 30}, draw);
  EXPECT_EQ(presses, 1);
  EXPECT_EQ(ui.textures.uploads, 1);
}

// ---- token strip

TEST(TokenStrip, click_and_hover_give_the_index) {
  UiHarness ui;
  const std::vector<Token> tokens{{7, "The"}, {42, "animal"}, {2, "</s>"}};
  TokenStripResult result;
  int clicked = -1;
  const auto draw = ui.in_panel([&] {
    result = draw_token_strip("strip", tokens, {}, ui.skin);
    if (result.clicked >= 0) clicked = result.clicked;
  });
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("42"));
  ASSERT_TRUE(ui.click_text("animal", draw));
  EXPECT_EQ(clicked, 1);
  EXPECT_EQ(result.hovered, 1);
  EXPECT_TRUE(ui.drew("position 1, token id 42"));
}

TEST(TokenStrip, says_what_the_vocabulary_has_not) {
  UiHarness ui({600, 300});
  const std::vector<Token> tokens{{7, "The"}, {3, "\u2019", true}, {3, "zz", true}};
  const auto draw = ui.in_panel([&] { draw_token_strip("strip", tokens, {}, ui.skin); });
  ui.frame(draw);
  const auto at = ui.find_text("zz");
  ASSERT_TRUE(at);
  ui.move(*at, draw);
  EXPECT_TRUE(ui.drew("<unk>"));
  EXPECT_FALSE(ui.drew("instead"));
  ui.move({at->x - 30, at->y}, draw);
  EXPECT_TRUE(ui.drew("instead"));
}

TEST(TokenStrip, wraps_into_rows) {
  UiHarness ui({300, 600});
  float height = 0;
  const auto draw = [&](std::size_t count) {
    ui.frame(ui.in_panel([&] {
      draw_token_strip("strip", std::vector<Token>(count, Token{5, "word"}), {}, ui.skin);
      height = ImGui::GetItemRectSize().y;
    }));
    return height;
  };
  const float one_row = draw(1);
  EXPECT_GT(draw(128), one_row * 10);
}

TEST(TokenStrip, masked_tokens_say_why_and_weights_are_shown) {
  UiHarness ui;
  const std::vector<Token> tokens{{7, "seen"}, {8, "future"}};
  const std::vector<float> weights{0.25F, 0.75F};
  TokenStripOptions options;
  options.masked_from = 1;
  options.masked_note = "not written yet";
  options.weights = weights;
  const auto draw = ui.in_panel([&] { draw_token_strip("strip", tokens, options, ui.skin); });
  ui.frame(draw);
  ui.move(*ui.find_text("future"), draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("not written yet"));
  ui.move(*ui.find_text("seen"), draw);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("weight 0.2500"));
}

TEST(TokenStrip, empty_keeps_its_height) {
  UiHarness ui;
  float height = 0;
  ui.panel([&] {
    draw_token_strip("strip", {}, {}, ui.skin);
    height = ImGui::GetItemRectSize().y;
  });
  EXPECT_GT(height, 10);
}

// ---- splitter and tooltip

TEST(Splitter, drags_within_its_limits_and_resets) {
  UiHarness ui({800, 400}, ThemeName::dark, 2);
  float width = 200;
  bool changed = false;
  const SplitterOptions options{.min = 150, .max = 300, .standard = 220};
  const auto draw = ui.in_panel([&] {
    ImGui::SetCursorScreenPos({width * 2, 10});
    changed = draw_splitter("split", width, 300, options, ui.skin) || changed;
  });
  ui.drag({405, 100}, {465, 100}, draw);
  EXPECT_NEAR(width, 230, 1);  // 60 pixels at scale 2
  EXPECT_TRUE(changed);
  ui.drag({465, 100}, {790, 100}, draw);
  EXPECT_FLOAT_EQ(width, 300);
  ui.drag({605, 100}, {5, 100}, draw);
  EXPECT_FLOAT_EQ(width, 150);
  ui.double_click({305, 100}, draw);
  EXPECT_FLOAT_EQ(width, 220);
}

TEST(Splitter, of_a_column_on_its_right_widens_it_leftwards) {
  UiHarness ui({800, 400});
  float width = 200;
  const auto draw = ui.in_panel([&] {
    ImGui::SetCursorScreenPos({800 - width, 10});
    draw_splitter("split", width, 300, {.column_is_right = true}, ui.skin);
  });
  ui.drag({603, 100}, {553, 100}, draw);
  EXPECT_NEAR(width, 250, 1);
}

TEST(Tooltip, comes_after_a_rest_and_on_disabled_items_too) {
  UiHarness ui;
  const auto draw = ui.in_panel([&] {
    ImGui::BeginDisabled();
    ImGui::Button("press", {100, 40});
    ImGui::EndDisabled();
    help_tooltip("what it does", ui.skin);
  });
  ui.move({40, 30}, draw);
  EXPECT_FALSE(ui.drew("what it does"));
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("what it does"));
}

// ---- file browser

constexpr FileChoice a_run = {.title = "Open a run", .accept = "Open", .advice = "A run is a folder.", .runs = true};
constexpr FileChoice a_corpus = {.title = "Open a corpus", .accept = "Open", .advice = "A text file.", .files = true};
constexpr FileChoice a_new_run = {
    .title = "Save the run", .accept = "Save", .advice = "A new folder.", .thing = "run", .runs = true};

struct BrowserTest : testing::Test {
  UiHarness ui;
  FileBrowser browser;
  std::vector<Command> commands;
  std::optional<std::string> chosen;
  UiHarness::Draw draw = ui.in_panel([this] {
    if (auto path = draw_browser(browser, commands, ui.skin)) chosen = path;
  });

  void open(const FileChoice& choice) {
    open_browser(browser, choice, "", commands);
    receive(browser,
            {.path = "/home/u/work",
             .entries = {{"papers", true, false, 0}, {"tiny", true, true, 0}, {"pairs.tsv", false, false, 3400}},
             .error = {}});
    commands.clear();
    ui.frames(3, draw);
  }
  std::string asked() const { return commands.empty() ? "" : std::get<ListDirectory>(commands.back()).path; }
};

TEST_F(BrowserTest, shows_names_that_have_signs_of_dear_imgui) {
  open(a_corpus);
  receive(browser, {.path = "/home/my##1/texts", .entries = {{"notes##2.txt", false, false, 12}}, .error = {}});
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("notes##2.txt"));
  ASSERT_TRUE(ui.click_text("my##1", draw));
  EXPECT_EQ(asked(), "/home/my##1") << "the part of the path, which is a button";
}

TEST_F(BrowserTest, asks_for_a_listing_when_opened) {
  open_browser(browser, a_run, "/data", commands);
  ASSERT_EQ(commands.size(), 1U);
  EXPECT_EQ(asked(), "/data");
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Reading the folder"));
}

// A worker that is busy answers late.
TEST_F(BrowserTest, what_is_typed_before_the_listing_comes_is_the_name) {
  open_browser(browser, a_new_run, "", commands);
  ui.frames(3, draw);  // as long as keys wait after Ctrl+S
  ui.type("mine", draw);
  EXPECT_EQ(browser.name, "mine");
  receive(browser, {.path = "/home/u", .entries = {{"tiny", true, true, 0}}, .error = {}});
  ui.type("2", draw);
  EXPECT_EQ(browser.name, "mine2") << "the listing neither moved the keyboard nor selected what was typed";
  ui.key(Key::enter, draw);
  EXPECT_EQ(chosen, "/home/u/mine2");
}

TEST_F(BrowserTest, enter_before_the_listing_comes_waits_for_it) {
  open_browser(browser, a_new_run, "", commands);
  ui.frames(3, draw);
  ui.type("mine", draw);
  ui.key(Key::enter, draw);
  EXPECT_FALSE(chosen);
  receive(browser, {.path = "/home/u", .entries = {{"tiny", true, true, 0}}, .error = {}});
  ui.frames(3, draw);
  EXPECT_EQ(chosen, "/home/u/mine");
  EXPECT_FALSE(browser.open);
}

TEST_F(BrowserTest, enter_before_the_listing_comes_replaces_nothing_unseen) {
  open_browser(browser, a_new_run, "", commands);
  ui.frames(3, draw);
  ui.type("tiny", draw);
  ui.key(Key::enter, draw);
  receive(browser, {.path = "/home/u", .entries = {{"tiny", true, true, 0}}, .error = {}});
  ui.frames(3, draw);
  EXPECT_FALSE(chosen);
  EXPECT_TRUE(ui.drew("will be replaced"));
  ui.key(Key::enter, draw);
  EXPECT_EQ(chosen, "/home/u/tiny") << "the keyboard is in the name again";
}

TEST_F(BrowserTest, double_click_chooses_a_run) {
  open(a_run);
  EXPECT_FALSE(ui.drew("pairs.tsv"));  // no run
  ui.double_click(*ui.find_text("tiny/"), draw);
  EXPECT_EQ(chosen, "/home/u/work/tiny");
  EXPECT_FALSE(browser.open);
  EXPECT_TRUE(commands.empty());
}

TEST_F(BrowserTest, double_click_goes_into_a_folder) {
  open(a_run);
  ui.double_click(*ui.find_text("papers/"), draw);
  EXPECT_EQ(asked(), "/home/u/work/papers");
  EXPECT_FALSE(chosen);
  EXPECT_TRUE(browser.open);
}

TEST_F(BrowserTest, click_and_button_choose_a_corpus) {
  open(a_corpus);
  EXPECT_TRUE(ui.drew("3.4 kB"));
  ASSERT_TRUE(ui.click_text("pairs.tsv", draw));
  EXPECT_FALSE(chosen);
  const ImVec2 open_button = *ui.find_text("Open", 1);  // the first is in the title
  ui.click(open_button, draw);
  EXPECT_EQ(chosen, "/home/u/work/pairs.tsv");
}

TEST_F(BrowserTest, breadcrumb_goes_up) {
  open(a_run);
  ASSERT_TRUE(ui.click_text("home", draw));
  EXPECT_EQ(asked(), "/home");
}

TEST_F(BrowserTest, typed_path_is_gone_to) {
  open(a_run);
  ui.click(*ui.find_text("/home/u/work"), draw);
  ui.key(Key::a, draw, {.ctrl = true});
  ui.type("/srv/runs", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(asked(), "/srv/runs");
}

TEST_F(BrowserTest, error_is_shown_and_the_folder_stays) {
  open(a_run);
  receive(browser, {.path = "/root", .entries = {}, .error = "/root: Permission denied"});
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("/root: Permission denied"));
  EXPECT_TRUE(ui.drew("tiny/"));
  EXPECT_EQ(browser.listing.path, "/home/u/work");
}

TEST_F(BrowserTest, filter_narrows_the_list_whatever_the_case) {
  open(a_corpus);
  ui.click(*ui.find_text("filter"), draw);
  ui.type("PAIR", draw);
  EXPECT_TRUE(ui.drew("pairs.tsv"));
  EXPECT_FALSE(ui.drew("papers/"));
}

TEST_F(BrowserTest, hidden_entries_are_listed_only_when_asked_for) {
  open(a_run);
  receive(browser, {.path = "/home/u", .entries = {{".cache", true, false, 0}, {"runs", true, false, 0}}, .error = {}});
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("runs/"));
  EXPECT_FALSE(ui.drew(".cache/"));
  browser.filter = ".";
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew(".cache/"));
}

TEST_F(BrowserTest, what_is_typed_at_once_is_a_path_or_filters_the_list) {
  open(a_run);
  for (const char letter : std::string("/srv")) ui.type(std::string(1, letter), draw);
  EXPECT_EQ(browser.path_text, "/srv");
  ui.key(Key::enter, draw);
  EXPECT_EQ(asked(), "/srv");
  EXPECT_FALSE(chosen);
  open(a_run);
  ui.type("pap", draw);
  EXPECT_EQ(browser.filter, "pap");
  EXPECT_TRUE(ui.drew("papers/"));
  EXPECT_FALSE(ui.drew("tiny/"));
}

TEST_F(BrowserTest, the_path_of_a_run_opens_it) {
  open(a_run);
  ui.type("/srv/mine", draw);
  ui.key(Key::enter, draw);
  receive(browser, {.path = "/srv/mine", .entries = {{"config.json", false, false, 9}}, .error = {}});
  ui.frames(2, draw);
  EXPECT_EQ(chosen, "/srv/mine");
}

TEST_F(BrowserTest, a_path_is_a_name_in_another_folder) {
  open(a_new_run);
  ui.type("/srv/mine", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(asked(), "/srv");
  EXPECT_FALSE(chosen);
  receive(browser, {.path = "/srv", .entries = {}, .error = {}});
  ui.frames(3, draw);
  EXPECT_EQ(chosen, "/srv/mine");
}

TEST_F(BrowserTest, saves_under_a_name) {
  open(a_new_run);
  EXPECT_TRUE(ui.drew("enter a name for the run"));
  ui.click(*ui.find_text("name of the run"), draw);
  ui.type("a/b", draw);
  EXPECT_TRUE(ui.drew("press Enter to save under this path"));
  ui.key(Key::a, draw, {.ctrl = true});
  ui.type("mine", draw);
  ui.click(*ui.find_text("SaveCancel"), draw);  // between the two buttons: nothing
  EXPECT_FALSE(chosen);
  ui.click(*ui.find_text("Save", 1), draw);
  EXPECT_EQ(chosen, "/home/u/work/mine");
}

TEST_F(BrowserTest, says_when_a_run_would_be_replaced) {
  open(a_new_run);
  ui.click(*ui.find_text("tiny/"), draw);
  EXPECT_EQ(browser.name, "tiny");
  EXPECT_TRUE(ui.drew("will be replaced"));
}

TEST_F(BrowserTest, escape_and_backspace) {
  open(a_run);
  ui.key(Key::backspace, draw);
  EXPECT_EQ(asked(), "/home/u");
  ui.key(Key::escape, draw);
  EXPECT_FALSE(browser.open);
  EXPECT_FALSE(chosen);
}

TEST_F(BrowserTest, arrows_and_enter_choose_a_run) {
  open(a_run);
  ui.key(Key::down, draw);  // from papers/ to tiny/
  ui.key(Key::enter, draw);
  EXPECT_EQ(chosen, "/home/u/work/tiny");
}

TEST_F(BrowserTest, enter_goes_into_the_first_folder) {
  open(a_run);
  ui.key(Key::enter, draw);
  EXPECT_EQ(asked(), "/home/u/work/papers");
  EXPECT_FALSE(chosen);
}

TEST_F(BrowserTest, a_name_can_be_typed_and_entered_at_once) {
  open(a_new_run);
  ui.type("mine", draw);
  ui.key(Key::enter, draw);
  EXPECT_EQ(chosen, "/home/u/work/mine");
}

TEST(SizeText, is_short) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(999), "999 B");
  EXPECT_EQ(size_text(3400), "3.4 kB");
  EXPECT_EQ(size_text(999'600), "1.0 MB");
  EXPECT_EQ(size_text(12'000'000), "12 MB");
}

}  // namespace
}  // namespace attnscope
