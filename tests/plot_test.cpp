// Plots: their arithmetic, their mouse, and the two panels made of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <string>

#include "analysis/matrix_algebra.h"
#include "messages/metrics.h"
#include "shell/curves_panel.h"
#include "ui_harness.h"
#include "widgets/capture.h"
#include "widgets/marks.h"
#include "widgets/painter.h"
#include "widgets/plot.h"
#include "workspaces/positions/numbers.h"

namespace attnscope {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST(LinearTicks, are_one_two_five) {
  EXPECT_THAT(linear_ticks({0, 10}, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(linear_ticks({0, 1}, 4), ElementsAre(0, DoubleNear(0.2, 1e-12), DoubleNear(0.4, 1e-12),
                                                   DoubleNear(0.6, 1e-12), DoubleNear(0.8, 1e-12), 1));
  EXPECT_THAT(linear_ticks({-7, 7}, 3), ElementsAre(-5, 0, 5));
  EXPECT_THAT(linear_ticks({1200, 6000}, 5), ElementsAre(2000, 3000, 4000, 5000, 6000));
}

TEST(LinearTicks, of_no_range_are_none) {
  EXPECT_THAT(linear_ticks({3, 3}, 5), IsEmpty());
  EXPECT_THAT(linear_ticks({5, 3}, 5), IsEmpty());
  EXPECT_THAT(linear_ticks({0, std::numeric_limits<double>::infinity()}, 5), IsEmpty());
  EXPECT_THAT(linear_ticks({nan, 1}, 5), IsEmpty());
  EXPECT_LE(linear_ticks({1e18, 1e18 + 256}, 5).size(), 1001U);
}

TEST(LogTicks, are_decades_or_finer) {
  EXPECT_THAT(log_ticks({0.5, 2000}), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(log_ticks({1.5, 30}), ElementsAre(2, 5, 10, 20));
  EXPECT_THAT(log_ticks({2.1, 2.9}), testing::SizeIs(testing::Ge(2U)));
  EXPECT_LE(log_ticks({1e-20, 1e20}).size(), 9U);
  EXPECT_THAT(log_ticks({0, 10}), IsEmpty());
}

TEST(TickText, has_the_digits_that_tell_ticks_apart) {
  EXPECT_EQ(tick_text(0, 1), "0");
  EXPECT_EQ(tick_text(0.25, 0.05), "0.25");
  EXPECT_EQ(tick_text(12, 2), "12");
  EXPECT_EQ(tick_text(1500, 500), "1.5k");
  EXPECT_EQ(tick_text(2000, 1000), "2k");
  EXPECT_EQ(tick_text(3e6, 1e6), "3M");
  EXPECT_EQ(tick_text(1e-5, 1e-5), "1e-05");
  EXPECT_EQ(tick_text(-0.5, 0.5), "-0.5");
}

TEST(Zoomed, keeps_what_is_under_the_cursor) {
  const PlotRange closer = zoomed({0, 100}, 25, 0.5, false);
  EXPECT_DOUBLE_EQ(closer.low, 12.5);
  EXPECT_DOUBLE_EQ(closer.high, 62.5);
  const PlotRange log = zoomed({1, 10000}, 100, 0.5, true);
  EXPECT_NEAR(log.low, 10, 1e-9);
  EXPECT_NEAR(log.high, 1000, 1e-6);
}

TEST(Zoomed, stops_before_numbers_run_out) {
  PlotRange range{0, 100};
  for (int i = 0; i < 2000; ++i) range = zoomed(range, 50, 0.5, false);
  EXPECT_GT(range.width(), 0);
  for (int i = 0; i < 2000; ++i) range = zoomed(range, 50, 2, false);
  EXPECT_TRUE(std::isfinite(range.width()));
}

TEST(Panned, moves_by_a_share) {
  EXPECT_EQ(panned({0, 10}, 0.1, false), (PlotRange{1, 11}));
  const PlotRange log = panned({1, 100}, 0.5, true);
  EXPECT_NEAR(log.low, 10, 1e-9);
  EXPECT_NEAR(log.high, 1000, 1e-6);
}

TEST(FittedY, takes_in_what_is_visible_and_finite) {
  const Series series{{0, 1, 2, 3, 4}, {5, nan, 1, -2, 100}};
  const PlotLine line{"a", &series};
  const PlotRange all = fitted_y({&line, 1}, {0, 3}, false);
  EXPECT_NEAR(all.low, -2 - 0.42, 1e-9);
  EXPECT_NEAR(all.high, 5 + 0.42, 1e-9);
  const PlotRange log = fitted_y({&line, 1}, {0, 3}, true);
  EXPECT_GT(log.low, 0.9);  // −2 has no place on it
  EXPECT_LT(log.low, 1);
  const Series flat{{0, 1}, {3, 3}};
  const PlotLine flat_line{"flat", &flat};
  const PlotRange around = fitted_y({&flat_line, 1}, {0, 1}, false);
  EXPECT_LT(around.low, 3);
  EXPECT_GT(around.high, 3);
  const Series broken{{0, 1}, {nan, nan}};
  const PlotLine broken_line{"broken", &broken};
  EXPECT_EQ(fitted_y({&broken_line, 1}, {0, 1}, false), (PlotRange{0, 1}));
  EXPECT_EQ(fitted_y({}, {0, 1}, true), (PlotRange{0.1, 1}));
}

TEST(FittedX, spans_all_lines_and_gives_one_point_room) {
  const Series a{{2, 5}, {0, 0}};
  const Series b{{1, 3}, {0, 0}};
  const PlotLine lines[] = {{"a", &a}, {"b", &b}};
  EXPECT_EQ(fitted_x(lines), (PlotRange{1, 5}));
  const Series one{{7}, {0}};
  const PlotLine line{"one", &one};
  EXPECT_EQ(fitted_x({&line, 1}), (PlotRange{6.5, 7.5}));
  EXPECT_EQ(fitted_x({}), (PlotRange{0, 1}));
}

TEST(ShownX, follows_the_newest_point_when_it_was_in_sight) {
  PlotAxis axis;
  EXPECT_EQ(shown_x(axis, {0, 100}), (PlotRange{0, 100}));
  axis.window = PlotRange{80, 100};
  EXPECT_EQ(shown_x(axis, {0, 110}), (PlotRange{90, 110}));
  axis.window = PlotRange{20, 40};
  EXPECT_EQ(shown_x(axis, {0, 120}), (PlotRange{20, 40}));
  axis.window = PlotRange{100, 120};
  axis.follow = false;
  EXPECT_EQ(shown_x(axis, {0, 130}), (PlotRange{100, 120}));
  EXPECT_EQ(shown_x(axis, {0, 50}), (PlotRange{0, 50})) << "another run, that has not come so far";
}

TEST(NearestPoint, is_the_nearest) {
  const Series series{{0, 10, 20}, {1, 2, 3}};
  EXPECT_EQ(nearest_point(series, -5), 0U);
  EXPECT_EQ(nearest_point(series, 6), 1U);
  EXPECT_EQ(nearest_point(series, 14), 1U);
  EXPECT_EQ(nearest_point(series, 99), 2U);
  EXPECT_FALSE(nearest_point({}, 1));
}

TEST(Legend, toggles_and_solos) {
  const Series series;
  const PlotLine lines[] = {{"a", &series}, {"b", &series}, {"c", &series}};
  PlotView view;
  toggle_line(view, "b");
  EXPECT_TRUE(is_hidden(view, "b"));
  toggle_line(view, "b");
  EXPECT_FALSE(is_hidden(view, "b"));
  solo_line(view, "b", lines);
  EXPECT_THAT(view.hidden, ElementsAre("a", "c"));
  solo_line(view, "b", lines);
  EXPECT_THAT(view.hidden, IsEmpty());
}

// ---- the mouse

struct PlotTest : testing::Test {
  UiHarness ui{{800, 500}};
  Series rise{{}, {}};
  Series fall{{}, {}};
  PlotAxis axis;
  PlotView view;
  double smoothing = 0;
  UiHarness::Draw draw = ui.in_panel([this] {
    const PlotLine lines[] = {{"rise", &rise, ui.skin.theme.series[0], smoothing},
                              {"fall", &fall, ui.skin.theme.series[1]}};
    draw_plot("plot", lines, {0, 0}, axis, view, {.title = "Title", .x_label = "step"}, ui.skin);
  });

  PlotTest() {
    for (int i = 0; i <= 100; ++i) {
      rise.x.push_back(i);
      rise.y.push_back(i);
      fall.x.push_back(i);
      fall.y.push_back(100 - i);
    }
  }
};

TEST_F(PlotTest, wheel_zooms_both_axes_or_one) {
  ui.wheel({400, 250}, 1, draw);
  ASSERT_TRUE(axis.window && view.window);
  EXPECT_NEAR(axis.window->width(), 85, 0.5);
  axis.window.reset();
  view.window.reset();
  ui.wheel({400, 250}, 1, draw, {.shift = true});
  EXPECT_TRUE(axis.window);
  EXPECT_FALSE(view.window);
  axis.window.reset();
  ui.wheel({400, 250}, 1, draw, {.ctrl = true});
  EXPECT_FALSE(axis.window);
  EXPECT_TRUE(view.window);
}

TEST_F(PlotTest, drag_pans_and_double_click_fits) {
  ui.drag({400, 250}, {300, 250}, draw);
  ASSERT_TRUE(axis.window);
  EXPECT_GT(axis.window->low, 5);
  EXPECT_NEAR(axis.window->width(), 100, 1e-6);
  EXPECT_FALSE(view.window);
  ui.drag({400, 250}, {400, 150}, draw);
  ASSERT_TRUE(view.window);
  EXPECT_LT(view.window->low, -20);
  ui.double_click({400, 250}, draw);
  EXPECT_FALSE(axis.window);
  EXPECT_FALSE(view.window);
}

TEST_F(PlotTest, a_logarithmic_x_axis_keeps_ratios) {
  axis.log = true;
  for (double& x : rise.x) x = std::pow(10.0, x / 50);  // 1 … 100
  fall.x = rise.x;
  ui.frame(draw);
  const auto x_at = [&](float pixel) {
    ui.move({pixel, 250}, draw);
    return *axis.crosshair;
  };
  const double left = x_at(300), middle = x_at(400), right = x_at(500);
  EXPECT_GT(right, 2 * left);
  EXPECT_NEAR(middle / left, right / middle, 1e-3);
  ui.wheel({400, 250}, 1, draw);
  ASSERT_TRUE(axis.window);
  EXPECT_NEAR(std::log(axis.window->high / axis.window->low), 0.85 * std::log(100), 0.01);
}

TEST_F(PlotTest, what_is_not_movable_is_its_callers) {
  PlotFrame seen;
  int hovered = 0;
  const UiHarness::Draw own = ui.in_panel([&] {
    const PlotLine line{.name = "rise", .series = &rise};
    PlotOptions options{.title = "Title", .y_limits = PlotRange{0, 50}, .movable = false};
    options.over = [&](Painter&, const PlotFrame& frame) {
      seen = frame;
      hovered += ImGui::IsItemHovered() ? 1 : 0;
    };
    draw_plot("plot", {&line, 1}, {0, 0}, axis, view, options, ui.skin);
  });
  ui.wheel({400, 250}, 1, own);
  ui.drag({400, 250}, {300, 250}, own);
  EXPECT_FALSE(axis.window || view.window);
  EXPECT_GT(hovered, 0);
  EXPECT_FLOAT_EQ(seen.x_at(0), seen.low.x);
  EXPECT_FLOAT_EQ(seen.y_at(50), seen.low.y);
  EXPECT_NEAR(seen.x_value(seen.x_at(37)), 37, 1e-3);
  EXPECT_NEAR(seen.y_value(seen.y_at(12)), 12, 1e-3);
}

// No information by color alone.
TEST_F(PlotTest, every_color_of_a_series_has_a_mark_of_its_own) {
  PictureRecorder recorder;
  ui.skin.recorder = &recorder;
  const auto shapes = [&](const UiHarness::Draw& drawing) {
    recorder.begin({{0, 0}, {800, 500}});
    ui.frame(drawing);
    return recorder.end().shapes;
  };
  std::set<std::string> marks;
  for (const Color32 color : ui.skin.theme.series) {
    std::string mark;
    for (const Drawn& drawn : shapes(ui.in_panel([&] {
           Painter paint(ui.skin);
           draw_mark(paint, {100, 100}, 4, faded(color, 0.5F), ui.skin);
         }))) {
      mark += std::to_string(drawn.shape.index()) + ' ';
      if (const auto* line = std::get_if<DrawnLine>(&drawn.shape))
        for (const ImVec2 at : line->points) mark += std::to_string(at.x) + ',' + std::to_string(at.y) + ' ';
      if (const auto* rect = std::get_if<DrawnRect>(&drawn.shape)) mark += rect->thickness > 0 ? "outline" : "filled";
    }
    EXPECT_TRUE(!mark.empty() && marks.insert(mark).second) << mark;
  }
  int dots = 0, squares = 0;
  for (const Drawn& drawn : shapes(draw)) {
    const auto* dot = std::get_if<DrawnCircle>(&drawn.shape);
    dots += dot && dot->color == ui.skin.theme.series[0] ? 1 : 0;
    const auto* square = std::get_if<DrawnRect>(&drawn.shape);
    squares += square && square->color == ui.skin.theme.series[1] && square->high.y - square->low.y > 5 ? 1 : 0;
  }
  EXPECT_GE(dots, 5) << "along the line, and in the legend";
  EXPECT_GE(squares, 5);
}

TEST_F(PlotTest, bars_stand_on_zero) {
  PictureRecorder recorder;
  ui.skin.recorder = &recorder;
  PlotFrame frame;
  const UiHarness::Draw own = ui.in_panel([&] {
    const Series series{{1, 2, 3}, {4, 0, -2}};
    const PlotLine line{.name = "bars", .series = &series, .color = 0xFF010203, .bar = 1};
    PlotOptions options{.title = "Title", .x_data = PlotRange{0, 4}, .y_limits = PlotRange{-4, 4}};
    options.over = [&](Painter&, const PlotFrame& seen) { frame = seen; };
    draw_plot("plot", {&line, 1}, {0, 0}, axis, view, options, ui.skin);
  });
  recorder.begin({{0, 0}, {800, 500}});
  ui.frame(own);
  std::vector<DrawnRect> bars;
  for (const Drawn& drawn : recorder.end().shapes)
    if (const auto* rect = std::get_if<DrawnRect>(&drawn.shape); rect && rect->color == 0xFF010203)
      bars.push_back(*rect);
  std::erase_if(bars, [](const DrawnRect& rect) { return rect.high.y - rect.low.y < 4; });  // the legend's
  ASSERT_EQ(bars.size(), 2U);
  EXPECT_NEAR(bars[0].low.y, frame.y_at(4), 1);
  EXPECT_NEAR(bars[0].high.y, frame.y_at(0), 1);
  EXPECT_NEAR(bars[1].low.y, frame.y_at(0), 1);
  EXPECT_NEAR(bars[1].high.y, frame.y_at(-2), 1);
  EXPECT_LT(bars[0].high.x - bars[0].low.x, frame.width() / 4);
  EXPECT_GT(bars[0].high.x - bars[0].low.x, frame.width() / 4 * 0.9F);
}

TEST_F(PlotTest, NeedsNoTitleAndCountsInWholeNumbers) {
  const Series layers{{1, 2}, {3, 4}};
  PlotAxis own_axis;
  PlotView own_view;
  const PlotLine line{.name = "distance", .series = &layers, .color = 0xffffffff};
  ui.frames(2, [&] {
    draw_plot("untitled", {&line, 1}, {0, 0}, own_axis, own_view,
              {.help = "said of a title", .whole_x = true, .x_data = PlotRange{0.7, 2.3}}, ui.skin);
  });
  EXPECT_TRUE(ui.drew("2"));
  EXPECT_FALSE(ui.drew("1.2"));
  EXPECT_FALSE(ui.drew("0.8"));
}

TEST_F(PlotTest, hover_tells_all_values_at_the_nearest_step) {
  ui.move({400, 250}, draw);
  ui.frames(2, draw);
  ASSERT_TRUE(axis.crosshair);
  const int nearest = static_cast<int>(std::lround(*axis.crosshair));
  EXPECT_TRUE(ui.drew("step " + std::to_string(nearest)));
  EXPECT_TRUE(ui.drew("rise " + std::to_string(nearest) + "fall " + std::to_string(100 - nearest))) << ui.drawn_text();
  ui.move({-100, -100}, draw);
  EXPECT_FALSE(axis.crosshair);
}

TEST_F(PlotTest, hover_says_where_a_value_was_measured_if_not_at_the_heading) {
  const Series every{{0, 10, 20}, {1, 2, 3}}, rare{{0, 20}, {5, 6}};
  const PlotLine lines[] = {{"train", &every, 0xffffffff}, {"validation", &rare, 0xffffffff}};
  const auto rare_draw = [&] {
    ui.panel([&] {
      draw_plot("two", lines, {0, 0}, axis, view, {.title = "two", .x_data = PlotRange{0, 20}}, ui.skin);
    });
  };
  rare_draw();
  const std::optional<ImVec2> twelve = ui.find_text("12");
  ASSERT_TRUE(twelve);
  feed_mouse(ui.io(), {twelve->x, twelve->y - 40});
  for (int i = 0; i < 3; ++i) rare_draw();
  EXPECT_TRUE(ui.drew("step 10")) << ui.drawn_text();
  EXPECT_TRUE(ui.drew("validation 6 (step 20)")) << ui.drawn_text();
  EXPECT_FALSE(ui.drew("(step 10)"));
}

TEST_F(PlotTest, legend_click_switches_off_and_double_click_solos) {
  ui.frame(draw);
  const ImVec2 fall_entry = *ui.find_text("fall");
  ui.click(fall_entry, draw);
  EXPECT_THAT(view.hidden, ElementsAre("fall"));
  ui.click(fall_entry, draw);
  EXPECT_THAT(view.hidden, IsEmpty());
  ui.double_click(fall_entry, draw);
  EXPECT_THAT(view.hidden, ElementsAre("rise"));
  ui.double_click(fall_entry, draw);
  EXPECT_THAT(view.hidden, IsEmpty());
  ui.click(fall_entry, draw);
  ui.click(*ui.find_text("rise"), draw);
  EXPECT_TRUE(ui.drew("all curves are hidden"));
}

TEST_F(PlotTest, hidden_lines_do_not_count_in_the_fit) {
  fall.y.assign(fall.y.size(), 1000);
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("1.0k"));
  view.hidden = {"fall"};
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("0.5k"));
}

TEST_F(PlotTest, empty_one_point_and_broken_lines) {
  rise = fall = {};
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("no measurements yet"));
  rise = {{5}, {2}};
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("no measurements yet"));
  rise = {{0, 1, 2, 3}, {nan, 1, nan, std::numeric_limits<double>::infinity()}};
  view.log = true;
  smoothing = 0.9;
  ui.wheel({400, 250}, 3, draw);
  fall = {{0, 1, 2}, {-1, 0, 10}};
  axis.window.reset();
  view.window.reset();
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("10"));
}

TEST_F(PlotTest, a_value_that_is_not_finite_is_marked) {
  const auto marks = [&] {
    ui.frames(2, ui.in_panel([&] {
      const PlotLine line{.name = "rise", .series = &rise, .color = ui.skin.theme.series[0], .marks_gaps = true};
      draw_plot("plot", {&line, 1}, {0, 0}, axis, view, {.title = "Title", .x_label = "step"}, ui.skin);
    }));
    const ImDrawData& data = *ImGui::GetDrawData();
    std::ptrdiff_t count = 0;
    for (const ImDrawList* list : std::span(&data.CmdLists[0], static_cast<std::size_t>(data.CmdListsCount)))
      count += std::ranges::count(list->VtxBuffer, ui.skin.theme.error, &ImDrawVert::col);
    return count;
  };
  EXPECT_EQ(marks(), 0);
  rise.y[50] = nan;
  const auto one = marks();
  EXPECT_GT(one, 0);
  rise.y[70] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(marks(), 2 * one);
}

TEST_F(PlotTest, a_window_below_zero_is_left_when_the_axis_turns_logarithmic) {
  view.window = PlotRange{-5, 50};
  view.log = true;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("10"));
}

TEST_F(PlotTest, a_hundred_thousand_points_cost_no_more_than_the_pixels) {
  rise = fall = {};
  for (int i = 0; i < 100'000; ++i) {
    rise.x.push_back(i);
    rise.y.push_back(std::sin(i * 0.7) + i * 1e-4);
  }
  smoothing = 0.9;
  ui.frames(3, draw);
  EXPECT_LT(ui.vertices(), 30'000);
}

// ---- panels

Curves measured(int steps) {
  Curves curves;
  for (int step = 1; step <= steps; ++step) {
    MetricPoint point;
    point.step = step;
    point.set(metric("loss"), 5.0 / step + 1);
    point.set(metric("gradient_norm"), 0.5);
    if (step % 10 == 0) point.set(metric("validation_nll"), 4.0 / step + 1);
    curves.append(point);
  }
  return curves;
}

TEST(CurvesPanel, empty_small_and_large) {
  UiHarness ui({360, 700});
  CurvesView view;
  Curves curves;
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("no measurements yet"));
  EXPECT_TRUE(ui.drew("Learning rate"));
  curves = measured(1);
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("Loss, nats/token"));
  EXPECT_TRUE(ui.drew("train 6"));
  curves = measured(50'000);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("50k"));
  EXPECT_FALSE(ui.drew("Learning rate")) << "there is no plot of what a run did not measure";
  EXPECT_TRUE(ui.drew("Gradient norm"));
}

TEST(CurvesPanel, the_step_of_the_lowest_validation_loss_is_marked_in_the_loss_only) {
  UiHarness ui({360, 700});
  CurvesView view;
  const Curves curves = measured(1000);
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("best"));
  view.best_step = 500;
  ui.frames(2, draw);
  const auto place = ui.find_text("best");
  const auto loss = ui.find_text("Loss, nats/token"), next = ui.find_text("Gradient norm");
  ASSERT_TRUE(place && loss && next);
  EXPECT_GT(place->x, 180) << "right of the middle of the plot";
  EXPECT_TRUE(place->y > loss->y && place->y < next->y);
}

TEST(CurvesPanel, steps_on_a_logarithmic_axis_begin_at_1) {
  UiHarness ui({360, 700});
  CurvesView view;
  const Curves curves = measured(1000);
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("100"));
  ASSERT_TRUE(ui.click_text("Log x", draw));
  ui.frames(2, draw);
  EXPECT_TRUE(view.axis.log);
  const auto tick = ui.find_text("100");
  ASSERT_TRUE(tick);
  EXPECT_GT(tick->x, 180) << "two thirds of the way from 1 to 1000";
}

// How high the vertices of that colour stand on the screen in the last frame.
std::vector<float> heights_of(Color32 color) {
  std::vector<float> heights;
  const ImDrawData& drawn = *ImGui::GetDrawData();
  for (int list = 0; list < drawn.CmdListsCount; ++list)
    for (const ImDrawVert& vertex : drawn.CmdLists[list]->VtxBuffer)
      if (vertex.col == color) heights.push_back(vertex.pos.y);
  return heights;
}

TEST(CurvesPanel, the_moving_average_of_a_long_run_is_of_all_it_measured) {
  UiHarness ui({360, 700});
  CurvesView view;
  Curves curves;
  for (int step = 1; step <= 100'000; ++step) {
    MetricPoint point;
    point.step = step;
    point.set(metric("loss"), step % 8 == 0 ? 9 : 1);
    curves.append(point);
  }
  ui.frames(2, ui.in_panel([&] { draw_curves(curves, view, ui.skin); }));
  const Color32 color = ui.skin.theme.series[0];
  const auto [top, bottom] = std::ranges::minmax(heights_of(faded(color, 0.3F)));
  std::vector<float> average = heights_of(color);
  std::erase_if(average, [top = top](float height) { return height < top; });  // the legend's
  ASSERT_FALSE(average.empty());
  // 2 of 1 to 9; the points that are kept are 1 and 9 by turns.
  for (const float height : average) ASSERT_NEAR((bottom - height) / (bottom - top), 1.0F / 8, 0.03F);
}

TEST(CurvesPanel, plots_share_the_steps_shown) {
  UiHarness ui({360, 700});
  CurvesView view;
  const Curves curves = measured(1000);
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ui.wheel({200, 150}, 5, draw);
  ASSERT_TRUE(view.axis.window);
  EXPECT_LT(view.axis.window->width(), 600);
  EXPECT_TRUE(view.plots[metric("loss")].window);
  EXPECT_FALSE(view.plots[metric("gradient_norm")].window);
  view.weight_plot.window = PlotRange{0, 1};
  ASSERT_TRUE(ui.click_text("Fit", draw));
  EXPECT_FALSE(view.axis.window);
  EXPECT_FALSE(view.plots[metric("loss")].window);
  EXPECT_FALSE(view.weight_plot.window);
}

TEST(CurvesPanel, fit_shows_all_of_every_plot) {
  UiHarness ui({360, 900});
  CurvesView view;
  WeightCurve& weight = view.weights.emplace_back();
  weight.title = "it → animal";
  weight.series = {{1, 500, 1000}, {0.1, 0.4, 0.9}};
  const Curves curves = measured(1000);
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ui.frames(2, draw);
  const auto title = ui.find_text("Weight");
  ASSERT_TRUE(title);
  ui.wheel({200, title->y + 60}, 5, draw);
  ASSERT_TRUE(view.weight_plot.window);
  ASSERT_TRUE(ui.click_text("Fit", draw));
  EXPECT_FALSE(view.weight_plot.window);
}

TEST(CurvesPanel, controls_work_and_csv_is_copied) {
  UiHarness ui({460, 700});
  CurvesView view;
  const Curves curves = measured(10);
  const auto draw = ui.in_panel([&] { draw_curves(curves, view, ui.skin); });
  ASSERT_TRUE(ui.click_text("Log", draw));
  EXPECT_TRUE(view.plots[metric("loss")].log);
  EXPECT_FALSE(view.plots[metric("gradient_norm")].log);
  ASSERT_TRUE(ui.click_text("Follow", draw));
  EXPECT_FALSE(view.axis.follow);
  ASSERT_TRUE(ui.click_text("CSV", draw));
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), curves_csv(curves));
}

TEST(CurvesCsv, has_a_line_a_step_and_gaps_where_nothing_was_measured) {
  Curves curves;
  MetricPoint point;
  point.step = 1;
  point.set(metric("loss"), 2.5);
  point.set(metric("learning_rate"), 0.001);
  point.set(metric("gradient_norm"), 3);
  point.set(metric("tokens_per_second"), 100);
  curves.append(point);
  point.step = 2;
  point.set(metric("loss"), 2.25);
  point.set(metric("validation_nll"), 2.75);
  curves.append(point);
  const std::string csv = curves_csv(curves);
  EXPECT_TRUE(csv.starts_with("step,train_loss,validation_loss,plain_train_loss,learning_rate,gradient_norm,")) << csv;
  EXPECT_NE(csv.find("\n1,2.5,,,0.001,3,100"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\n2,2.25,2.75,,0.001,3,100"), std::string::npos) << csv;
}

Matrix sinusoids(int positions, int width) {
  Matrix matrix(positions, width);
  for (int row = 0; row < positions; ++row)
    for (int col = 0; col < width; ++col) {
      const double angle = row / std::pow(10000.0, (col - col % 2) / static_cast<double>(width));
      matrix.at(row, col) = static_cast<float>(col % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  return matrix;
}

TEST(DotProducts, of_positions_depend_on_the_distance_alone) {
  const Matrix dots = product_transposed(sinusoids(32, 64), sinusoids(32, 64));
  for (int row = 0; row < 28; ++row) {
    EXPECT_NEAR(dots.at(row, row), 32, 1e-3);
    EXPECT_NEAR(dots.at(row, row + 4), dots.at(0, 4), 1e-3);
    EXPECT_EQ(dots.at(row, row + 4), dots.at(row + 4, row));
  }
}

struct PositionsTest : testing::Test {
  UiHarness ui{{1000, 700}};
  Snapshot snapshot;
  PositionNumbersView view;
  UiHarness::Draw draw = ui.in_panel([this] { draw_position_numbers(&snapshot, view, ui.textures, ui.skin); });

  void show(Matrix table) {
    snapshot.model.positions = "sinusoidal";
    snapshot.positions =
        std::make_shared<const std::vector<PositionTable>>(std::vector<PositionTable>{{"", 0, std::move(table)}});
  }
};

TEST_F(PositionsTest, says_so_when_there_is_nothing) {
  ui.panel([&] { draw_position_numbers(nullptr, view, ui.textures, ui.skin); });
  EXPECT_TRUE(ui.drew("This view shows the positional encoding"));
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("This forward pass has no position vectors"));
}

TEST_F(PositionsTest, small_and_large_matrices_are_uploaded_once) {
  for (const auto& [positions, width] : {std::pair{1, 2}, std::pair{3, 4}, std::pair{512, 512}}) {
    ui.textures.uploads = 0;
    show(sinusoids(positions, width));
    ui.frames(5, draw);
    EXPECT_EQ(ui.textures.uploads, 2) << positions;  // the matrix and the dot products
    EXPECT_EQ(ui.drew("dim 16"), width > 16);
  }
}

TEST_F(PositionsTest, click_on_a_dimension_draws_its_wave_and_again_takes_it_away) {
  show(sinusoids(64, 64));
  ui.frame(draw);
  EXPECT_TRUE(ui.drew("dim 4"));
  const std::vector<int> before = view.dimensions;
  ui.click({300, 250}, draw);
  ASSERT_EQ(view.dimensions.size(), before.size() + 1);
  EXPECT_TRUE(ui.drew("dim " + std::to_string(view.dimensions.back())));
  ui.click({300, 250}, draw);
  EXPECT_EQ(view.dimensions, before);
}

TEST_F(PositionsTest, click_on_a_row_of_the_products_chooses_it) {
  show(sinusoids(64, 64));
  ui.click({750, 250}, draw);
  EXPECT_GT(view.row, 0);
  EXPECT_LT(view.row, 64);
  EXPECT_TRUE(ui.drew("position " + std::to_string(view.row)));
}

}  // namespace
}  // namespace attnscope
