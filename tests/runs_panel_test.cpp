// Mechanisms, Runs: the runs of a folder, what they show, and what a click opens.
#include <gmock/gmock.h>

#include <cmath>

#include "messages/metrics.h"
#include "posted.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/mechanisms/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

ListedRun run_of(std::int64_t width, std::int64_t seed, std::optional<double> lowest) {
  ListedRun run;
  run.name = "d" + std::to_string(width) + ",s" + std::to_string(seed);
  run.steps = 10;
  run.finished = true;
  run.config.model.d_model = width;
  run.config.training.seed = seed;
  run.config.training.steps = 10;
  run.results[lowest_validation] = lowest;
  run.results[metric("loss")] = 2;
  return run;
}

// The lowest loss is 3 / √width, by both seeds.
RunsListed powers() {
  RunsListed listed{.folder = "/home/me/widths", .runs = {}, .complaints = {}};
  for (const std::int64_t width : {16, 64, 1024})
    for (const std::int64_t seed : {1, 2})
      listed.runs.push_back(run_of(width, seed, 3 / std::sqrt(static_cast<double>(width))));
  return listed;
}

class RunsPanel : public testing::Test {
 protected:
  RunsPanel() { scope.layout.setup_open = scope.layout.curves_open = false; }

  void list(RunsListed listed) {
    receive(scope, {std::move(listed)}, nullptr);
    ui.frames(3, draw);
  }

  AppState scope;
  RunsView& view = scope.views.of<MechanismsView>().runs;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(RunsPanel, AListedFolderOpensItsTableAndTheFittedPower) {
  list(powers());
  EXPECT_EQ(scope.layout.workspace, find_workspace("mechanisms"));
  EXPECT_EQ(scope.layout.recent_runs.at(0), "/home/me/widths");
  for (const char* text : {"/home/me/widths: 6 runs", "d16,s1", "d1024,s2", "Lowest validation loss", "3 ",
                           "d_model^(-0.500", "R", "1.000", "seed"})
    EXPECT_TRUE(ui.drew(text)) << text;
  ASSERT_EQ(view.groups.size(), 1U);
  EXPECT_EQ(view.groups[0].means.x, (std::vector<double>{16, 64, 1024})) << "one mean per width";
  EXPECT_TRUE(view.axis.log && view.plot.log) << "both span more than a factor of 4";
  EXPECT_FALSE(ui.drew("not finished"));
}

TEST_F(RunsPanel, AHoveredRunIsHighlightedAndAClickOpensIt) {
  list(powers());
  ui.move(*ui.find_text("d64,s2"), draw);
  EXPECT_EQ(view.pointed, 3U);
  EXPECT_TRUE(posted<OpenRun>(scope).empty());
  ui.click(*ui.find_text("d64,s2"), draw);
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/home/me/widths/d64,s2");
  scope.commands.clear();
  EXPECT_TRUE(ui.click_text("Read again", draw));
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/home/me/widths");
}

TEST_F(RunsPanel, PointsAndParallelLinesAreHoveredAndClicked) {
  list(powers());
  // Every point of the right half between the controls and the table belongs to some line or to none.
  const ImVec2 title = *ui.find_text("seed", 0);
  bool pointed = false;
  for (float y = title.y; y < title.y + 300 && !pointed; y += 6) {
    ui.move({960, y}, draw);
    pointed = view.pointed.has_value();
  }
  ASSERT_TRUE(pointed);
  const std::size_t run = *view.pointed;
  ui.click(ui.io().MousePos, draw);
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/home/me/widths/" + view.listed.runs[run].name);
}

TEST_F(RunsPanel, ARunIsPointedAtInTheMiddleOfItsLine) {
  list(powers());
  std::optional<ImVec2> low, high, next;  // the limits at the axis of widths; the title of the one beside it
  for (int nth = 0; const auto at = ui.find_text("1024", nth); ++nth)
    if (at->x > 640 && !high) high = at;
  ASSERT_TRUE(high);
  for (int nth = 0; const auto at = ui.find_text("16", nth); ++nth)
    if (std::abs(at->x - high->x) < 3) low = at;
  for (int nth = 0; const auto at = ui.find_text("seed", nth); ++nth)
    if (at->x > 640 && at->y > low.value_or(ImVec2()).y && !next) next = at;
  ASSERT_TRUE(low && next);
  // Its width is a third of the way up the one axis, its seed the whole way up the other.
  const float line = font_size(ui.skin.fonts.small);
  const float top = high->y + line * 0.8F, bottom = low->y - line * 0.5F - 3;
  ui.move({(high->x + next->x) / 2, bottom + (top - bottom) * 2 / 3}, draw);
  ASSERT_TRUE(view.pointed);
  EXPECT_EQ(view.listed.runs[*view.pointed].name, "d64,s2");
}

TEST_F(RunsPanel, RunsThatDifferInAnotherSettingHaveTheirOwnCurve) {
  RunsListed listed = powers();
  for (const ListedRun& run : powers().runs) {
    ListedRun other = run;
    other.name += ",adam";
    other.config.training.optimizer = "adamw";
    other.results[lowest_validation] = 1;
    listed.runs.push_back(other);
  }
  list(listed);
  ASSERT_EQ(view.groups.size(), 2U);
  EXPECT_EQ(view.groups[1].name, "optimizer=adamw");
  EXPECT_NEAR(view.groups[1].power->exponent, 0, 1e-9);
  EXPECT_TRUE(ui.drew("optimizer=adamw"));
}

TEST_F(RunsPanel, BadAndUnfinishedRunsAreNamed) {
  RunsListed listed = powers();
  listed.runs[1].steps = 4;
  listed.runs[1].finished = false;
  listed.complaints = {"d4096,s1: no run was saved in it yet"};
  list(listed);
  EXPECT_TRUE(ui.drew("d16,s2: not finished, step 4 of 10"));
  EXPECT_TRUE(ui.drew("d4096,s1: no run was saved in it yet"));
}

TEST_F(RunsPanel, TheTableIsSortedByAColumn) {
  list(powers());
  EXPECT_EQ(view.order.front(), 0U);
  ui.click(*ui.find_text("steps"), draw);
  ui.frames(2, draw);
  EXPECT_EQ(view.sorted_by, 1);
}

TEST_F(RunsPanel, HostileRunsAreDrawn) {
  RunsListed one = powers();
  one.runs.resize(1);
  RunsListed none = powers();
  none.runs.clear();
  RunsListed bad = powers();
  for (ListedRun& run : bad.runs) run.results[lowest_validation] = NAN;
  bad.runs[0].results[lowest_validation] = -1e300;
  bad.runs[1].results[lowest_validation] = 1e300;
  bad.runs[2].name = std::string(5000, 'x');
  bad.runs[3].results = {};
  for (const RunsListed& listed : {one, none, bad}) {
    list(listed);
    EXPECT_EQ(view.listed.runs.size(), listed.runs.size());
  }
  list(none);
  EXPECT_TRUE(ui.drew("No run was found in this folder"));
}

TEST_F(RunsPanel, WithoutAFolderItSaysHowToGetOne) {
  scope.layout.workspace = show_view(scope.views, "runs");
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("attnscope sweep trains one run per combination"));
}

// ---- grokking

TEST(Grokking, NumbersAreDrawnOnTheCircleOfTheirFrequency) {
  AppState scope;
  scope.layout.setup_open = scope.layout.curves_open = false;
  receive(scope, {fixture_run(20), Status{Activity::paused, 20, "CPU"}}, nullptr);
  receive(scope, {}, fixture_snapshot({}, scope.asked.request));
  scope.layout.workspace = show_view(scope.views, "grokking");
  FourierResult result{.modulus = 4, .points = {{20, {0.25, 0.75}}}, .key = {2}, .numbers = {900, 901, 902, 903}};
  result.circles = {Matrix(4, 2)};
  result.circles[0].values = {1, 0, 0, 1, -1, 0, 0, -1};
  take_mechanism(scope.views.of<MechanismsView>(), result, scope.a.run.run, 20);
  UiHarness ui;
  ui.frames(3, [&] { draw_shell(scope, ui.textures, ui.skin); });
  const auto right = ui.find_text("900"), up = ui.find_text("901"), left = ui.find_text("902"),
             down = ui.find_text("903");
  ASSERT_TRUE(right && up && left && down) << ui.drawn_text();
  EXPECT_GT(right->x, left->x + 50);
  EXPECT_LT(up->y, down->y - 50);
}

}  // namespace
}  // namespace attnscope
