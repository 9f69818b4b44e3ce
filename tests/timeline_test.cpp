// Pinned sentences: the bar that goes through what was recorded of them, and what is shown meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "flow_fixture.h"
#include "posted.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/decoding/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

using testing::ElementsAre;

constexpr const char* sentence = "src1 src2";

// The recording at this step.
Frame frame_at(std::int64_t step, const char* text = sentence) {
  auto inspection = fixture_snapshot({3, 4, 2, 4});
  inspection->step = step;
  inspection->source_text = text;
  inspection->output_text = "output of " + std::to_string(step);
  return frame_of(*inspection);
}

class TimelineTest : public testing::Test {
 protected:
  TimelineTest() {
    scope.layout.sentence = sentence;
    receive(scope, {fixture_run(20), Status{Activity::paused, 1000, "CPU"}}, nullptr);
    receive(scope, {}, fixture_snapshot({3, 4, 2, 4}, scope.asked.request));
    ui.frames(3, draw);
    scope.commands.clear();
  }

  void record(std::vector<std::int64_t> steps, const char* text = sentence) {
    receive(scope, {SentencePinned{text}}, nullptr);
    for (const std::int64_t step : steps) receive(scope, {FrameRecorded{frame_at(step, text)}}, nullptr);
    ui.frames(3, draw);
  }

  const std::vector<Frame>& frames() const { return scope.a.history.find(sentence)->frames; }
  const Snapshot* shown() const { return shown_maps(scope).complete.snapshot.get(); }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  DecodingView& decoding = scope.views.of<DecodingView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(TimelineTest, TheSentenceIsPinnedAndUnpinned) {
  ASSERT_TRUE(ui.click_text("Pin", draw));
  ASSERT_EQ(posted<Pin>(scope).size(), 1U);
  EXPECT_EQ(posted<Pin>(scope)[0].text, sentence);
  receive(scope, {SentencePinned{sentence}}, nullptr);
  ui.key(Key::d, draw, {.ctrl = true});
  ASSERT_EQ(posted<Unpin>(scope).size(), 1U);
  EXPECT_EQ(posted<Unpin>(scope)[0].text, sentence);
}

TEST_F(TimelineTest, NothingIsPinnedWithoutARunOrASentence) {
  set_sentence(scope, "  ");
  EXPECT_FALSE(can_pin(scope));
  AppState nothing;
  toggle_pin(nothing);
  EXPECT_TRUE(nothing.commands.empty());
}

TEST_F(TimelineTest, TheBarIsThereWhileSentencesArePinned) {
  EXPECT_FALSE(ui.drew("Live"));
  record({0, 400});
  EXPECT_TRUE(ui.drew("Live"));
  EXPECT_TRUE(ui.drew("of 256 MiB · 2 frames"));
  receive(scope, {SentenceUnpinned{sentence}}, nullptr);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Live"));
}

TEST_F(TimelineTest, ScrubbingShowsExactlyTheStoredFrames) {
  record({0, 200, 400, 600});
  std::vector<const Snapshot*> seen;
  std::vector<std::uint64_t> versions;
  for (std::size_t i = 0; i < frames().size(); ++i) {
    show_frame(scope, i);
    ui.frames(2, draw);
    EXPECT_EQ(shown_maps(scope).newest.snapshot, frames()[i]);
    EXPECT_EQ(shown_maps(scope).complete.snapshot, frames()[i]);
    versions.push_back(shown_maps(scope).complete.version);
  }
  show_present(scope);
  EXPECT_EQ(shown_maps(scope).newest.snapshot, scope.a.newest.snapshot);
  EXPECT_EQ(shown_maps(scope).complete.snapshot, scope.a.complete.snapshot);
  versions.push_back(shown_maps(scope).complete.version);
  std::ranges::sort(versions);
  EXPECT_EQ(std::ranges::adjacent_find(versions), versions.end());
}

TEST_F(TimelineTest, TheMouseDragsAndClicksFromFrameToFrame) {
  record({0, 300, 600, 1000});
  const float y = ui.find_text("Live")->y;
  ui.drag({600, y}, {100, y}, draw);
  EXPECT_EQ(shown(), frames()[0].get());
  ui.drag({600, y}, {1270, y}, draw);
  EXPECT_EQ(shown(), frames()[3].get());
  ui.click({600, y}, draw);
  EXPECT_TRUE(shown() == frames()[1].get() || shown() == frames()[2].get());
  EXPECT_TRUE(scope.timeline.focused);
  ui.key(Key::home, draw);
  EXPECT_EQ(shown(), frames()[0].get());
  ui.key(Key::right, draw);
  EXPECT_EQ(shown(), frames()[1].get());
  ui.key(Key::escape, draw);
  EXPECT_EQ(shown(), scope.a.complete.snapshot.get());
  EXPECT_FALSE(scope.timeline.focused);
}

TEST_F(TimelineTest, BehindTheLastFrameIsThePresent) {
  record({0, 500});
  const float y = ui.find_text("Live")->y;
  ui.drag({600, y}, {1270, y}, draw);
  EXPECT_EQ(shown(), scope.a.complete.snapshot.get());
}

TEST_F(TimelineTest, APinnedSentenceIsChosen) {
  record({0}, "another one");
  ASSERT_TRUE(ui.click_text("a pinned sentence", draw));
  ASSERT_TRUE(ui.click_text("another one", draw));
  EXPECT_EQ(scope.layout.sentence, "another one");
  EXPECT_FALSE(posted<Probe>(scope).empty());
}

TEST_F(TimelineTest, TheSpeedIsChosen) {
  record({0, 400});
  ASSERT_TRUE(ui.click_text("1×", draw));
  ASSERT_TRUE(ui.click_text("8×", draw));
  EXPECT_EQ(scope.timeline.speed, 8);
}

TEST_F(TimelineTest, KeysGoFromFrameToFrameAndToThePresent) {
  record({0, 200, 400});
  ui.key(Key::left, draw, {.shift = true});
  EXPECT_EQ(shown(), frames()[2].get());
  EXPECT_EQ(attention.head, 0);  // the arrow was the bar's alone
  ui.key(Key::left, draw, {.shift = true});
  EXPECT_EQ(shown(), frames()[1].get());
  ui.key(Key::home, draw, {.shift = true});
  EXPECT_EQ(shown(), frames()[0].get());
  ui.key(Key::left, draw, {.shift = true});
  EXPECT_EQ(shown(), frames()[0].get());
  ui.key(Key::right, draw, {.shift = true});
  EXPECT_EQ(shown(), frames()[1].get());
  ui.key(Key::end, draw, {.shift = true});
  EXPECT_EQ(shown(), scope.a.complete.snapshot.get());
}

TEST_F(TimelineTest, TheSentenceBarSaysThatItIsThePast) {
  record({0, 600});
  show_frame(scope, 1);
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("output of 600"));
  EXPECT_TRUE(ui.drew("recorded step 600"));
  ASSERT_TRUE(ui.click_text("Live", draw));
  EXPECT_EQ(shown(), scope.a.complete.snapshot.get());
  EXPECT_FALSE(ui.drew("output of 600"));
}

TEST_F(TimelineTest, AnotherSentenceOrRunReturnsToThePresent) {
  record({0, 600});
  record({0}, "other");
  show_frame(scope, 1);
  set_sentence(scope, "other");
  ui.frame(draw);
  EXPECT_FALSE(scope.a.past.snapshot);
  set_sentence(scope, sentence);
  show_frame(scope, 1);
  receive(scope, {SentenceUnpinned{sentence}}, nullptr);
  ui.frame(draw);
  EXPECT_FALSE(scope.a.past.snapshot);
  record({0, 600});
  show_frame(scope, 1);
  receive(scope, {fixture_run(5)}, nullptr);
  ui.frame(draw);
  EXPECT_FALSE(scope.a.past.snapshot);
}

TEST_F(TimelineTest, AFrameThatIsGoneGivesWayToTheNearest) {
  record({0, 200, 400, 600});
  show_frame(scope, 3);
  receive(scope, {FrameRecorded{frame_at(500)}}, nullptr);  // training that frame 600 saw was taken back
  ui.frame(draw);
  EXPECT_EQ(shown(), frames().back().get());
  EXPECT_EQ(shown()->step, 500);
}

TEST_F(TimelineTest, AFilmVisitsEveryFrameOnceAndEndsAtTheLast) {
  record({0, 200, 400, 600, 800});
  scope.timeline.speed = 4;
  ASSERT_TRUE(ui.click_text("Film", draw));
  std::vector<std::int64_t> steps;
  for (int i = 0; i < 200 && (i == 0 || scope.timeline.playing); ++i) {
    if (steps.empty() || steps.back() != shown()->step) steps.push_back(shown()->step);
    EXPECT_EQ(animating(scope), scope.timeline.playing);
    ui.frame(draw);
  }
  steps.push_back(shown()->step);
  EXPECT_FALSE(scope.timeline.playing);
  // The clicks' own frames may have seen the first ones.
  EXPECT_TRUE(std::ranges::is_sorted(steps));
  EXPECT_EQ(steps.back(), 800);
  toggle_film(scope, 0);
  EXPECT_EQ(shown()->step, 0);
  std::vector<std::int64_t> visited{0};
  for (int i = 1; i <= 10; ++i) {
    settle_timeline(scope, i);
    if (scope.timeline.playing || visited.back() != shown()->step) visited.push_back(shown()->step);
  }
  EXPECT_THAT(visited, ElementsAre(0, 200, 400, 600, 800));
}

TEST_F(TimelineTest, AFilmSpendsItsTimeOnChanges) {
  record({0, 200, 400, 600, 800});
  std::vector<Frame> frames = recorded_sentence(scope)->frames;
  auto changed = std::make_shared<Snapshot>(*frames[3]);
  for (Matrix& head : changed->encoder.front()) std::ranges::fill(head.values, 0.0F);
  for (std::size_t i = 0; i < 3; ++i) frames[i] = frames[4];
  frames[3] = changed;
  const std::vector<double> seconds = film_seconds(frames);
  EXPECT_THAT(seconds, ElementsAre(0.04, 0.04, testing::DoubleNear(2 * seconds_per_frame, 1e-9),
                                   testing::DoubleNear(2 * seconds_per_frame, 1e-9), seconds_per_frame));
  const std::vector<Frame> same(3, frames[0]);
  EXPECT_THAT(film_seconds(same), testing::Each(seconds_per_frame)) << "nothing changes";
}

TEST_F(TimelineTest, WhatFramesDoNotHoldIsSaid) {
  record({0, 600});
  show_frame(scope, 0);
  attention.level = AttentionLevel::inside;
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Weights were not recorded at this step"));
  attention.level = AttentionLevel::head;
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Weights were not recorded at this step"));
  scope.layout.workspace = find_workspace("positions");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Weights were not recorded at this step"));
  scope.layout.workspace = find_workspace("decoding");
  for (const DecodingMode mode : {DecodingMode::tree, DecodingMode::readings, DecodingMode::forcing}) {
    decoding.mode = mode;
    ui.frames(2, draw);
    EXPECT_TRUE(ui.drew("Weights were not recorded at this step"));
  }
  decoding.mode = DecodingMode::steps;
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Weights were not recorded at this step"));
}

TEST_F(TimelineTest, AWeightIsPlottedOverTheRecordedSteps) {
  record({0, 300, 600});
  EXPECT_FALSE(weight_problem(scope).empty());
  select(attention, {AttentionPart::encoder, 1, 2});
  attention.pinned_row = 1;
  EXPECT_FALSE(weight_problem(scope).empty());
  attention.pinned_col = 0;
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Plot weight", draw));
  ASSERT_EQ(scope.curves_view.weights.size(), 1U);
  const WeightCurve& curve = scope.curves_view.weights[0];
  EXPECT_EQ(curve.title, "src2 → src1 · encoder L2 H3");
  EXPECT_THAT(curve.series.x, ElementsAre(0, 300, 600));
  const auto weight = static_cast<double>(frames()[1]->encoder[1][2].at(1, 0));
  EXPECT_THAT(curve.series.y, ElementsAre(weight, weight, weight));
  EXPECT_TRUE(ui.drew("encoder L2 H3"));
  scope.layout.curves_open = false;
  plot_weight(scope);  // the same again
  EXPECT_EQ(scope.curves_view.weights.size(), 1U);
  EXPECT_TRUE(scope.layout.curves_open) << "it would not be seen";
}

TEST_F(TimelineTest, CurvesFollowTheirFramesAlone) {
  record({0, 300});
  attention.pinned_row = attention.pinned_col = 1;
  plot_weight(scope);
  ui.frame(draw);
  std::vector<WeightCurve>& weights = scope.curves_view.weights;
  weights[0].series.y = {7, 7};  // stays while there is nothing new
  ui.frames(3, draw);
  EXPECT_THAT(weights[0].series.y, ElementsAre(7, 7));
  receive(scope, {FrameRecorded{frame_at(600)}}, nullptr);
  ui.frame(draw);
  EXPECT_THAT(weights[0].series.x, ElementsAre(0, 300, 600));
  receive(scope, {SentenceUnpinned{sentence}}, nullptr);
  ui.frame(draw);
  EXPECT_TRUE(weights.empty());
}

TEST_F(TimelineTest, AWeightOfASentenceNotPinnedPinsIt) {
  attention.pinned_row = attention.pinned_col = 0;
  plot_weight(scope);
  ASSERT_EQ(posted<Pin>(scope).size(), 1U);
  ui.frames(2, draw);
  ASSERT_EQ(scope.curves_view.weights.size(), 1U);
  record({20});
  EXPECT_THAT(scope.curves_view.weights[0].series.x, ElementsAre(20));
}

TEST_F(TimelineTest, WeightsAreTakenAwayAndHaveALimit) {
  record({0, 300});
  for (int i = 0; i < 12; ++i) {
    select(attention, {AttentionPart::encoder, i / 4, i % 4});
    attention.pinned_row = i % 3;
    attention.pinned_col = i / 4;
    plot_weight(scope);
  }
  EXPECT_EQ(scope.curves_view.weights.size(), max_weight_curves);
  EXPECT_FALSE(weight_problem(scope).empty());
  ui.frames(2, draw);
  const std::string first = scope.curves_view.weights[0].title;
  scope.curves_view.weights.resize(1);
  ui.frames(2, draw);
  // The cross stands at the right end of the name's line, near the window's edge.
  const auto line = ui.find_text(first.substr(first.find("encoder")));
  ASSERT_TRUE(line);
  ui.click({1280 - 18, line->y}, draw);
  EXPECT_TRUE(scope.curves_view.weights.empty());
}

TEST_F(TimelineTest, TheStepShownIsMarkedInThePlots) {
  record({0, 300});
  EXPECT_FALSE(scope.curves_view.axis.marker);
  show_frame(scope, 1);
  ui.frame(draw);
  EXPECT_EQ(scope.curves_view.axis.marker, 300);
}

TEST_F(TimelineTest, CsvHasAColumnAWeight) {
  record({1, 2});
  attention.pinned_row = attention.pinned_col = 1;
  plot_weight(scope);
  ui.frame(draw);
  const std::string csv = curves_csv(scope.a.curves, scope.curves_view.weights);
  const std::string header = csv.substr(0, csv.find('\n'));
  EXPECT_TRUE(header.ends_with("," + scope.curves_view.weights[0].title)) << header;
}

TEST_F(TimelineTest, NarrowAndWideWindowsHoldTheBar) {
  record({0, 200, 400, 600});
  for (const ImVec2 size : {ImVec2(320, 240), ImVec2(700, 500), ImVec2(3000, 2000)}) {
    ui.io().DisplaySize = size;
    ui.frames(3, draw);
    EXPECT_TRUE(ui.drew("Live")) << size.x;
  }
}

// ---- a recorded step with its weights

class RecordedWeights : public TimelineTest {
 protected:
  RecordedWeights() {
    record({0, 400, 800});
    Status status{Activity::paused, 1000, "CPU"};
    status.recorded_weights = {400};
    receive(scope, {status}, nullptr);
    scope.layout.workspace = find_workspace("flow");
    ui.frames(3, draw);
  }

  void go_to(std::int64_t step) {
    show_frame(scope, nearest_frame(frames(), static_cast<double>(step)));
    ask_for_inspection(scope);
    ui.frames(3, draw);
  }

  // The answer to what was asked last.
  std::shared_ptr<Snapshot> answer() const {
    auto inspection = fixture_snapshot({3, 4, 2, 4}, scope.asked.request);
    inspection->run = frames().back()->run;
    inspection->source_text = sentence;
    inspection->recorded_weights = scope.asked.step.has_value();
    inspection->step = scope.asked.step.value_or(1000);
    add_data_flow(*inspection, *scope.asked.data_flow);
    return inspection;
  }
};

TEST_F(RecordedWeights, AreLookedThroughInEveryView) {
  const auto present = scope.a.complete.snapshot;
  go_to(400);
  EXPECT_EQ(scope.asked.step, 400);
  EXPECT_FALSE(ui.drew("Weights were not recorded at this step")) << "the look is on its way";
  const auto inspection = answer();
  receive(scope, {}, inspection);
  ui.frames(3, draw);
  EXPECT_EQ(shown(), inspection.get());
  EXPECT_TRUE(ui.drew("Soft database"));
  EXPECT_EQ(scope.a.complete.snapshot, present) << "which is not of this step";
  show_present(scope);
  ask_for_inspection(scope);
  EXPECT_FALSE(scope.asked.step);
  EXPECT_EQ(shown(), present.get());
}

TEST_F(RecordedWeights, AStepWithoutThemSaysSo) {
  go_to(800);
  EXPECT_FALSE(scope.asked.step);
  EXPECT_TRUE(ui.drew("Weights were not recorded at this step"));
}

TEST_F(RecordedWeights, ALookOfAnotherStepIsNotShown) {
  go_to(400);
  receive(scope, {}, answer());
  go_to(800);
  EXPECT_EQ(shown(), frames()[2].get());
}

TEST_F(RecordedWeights, StudiesAreAboutThem) {
  go_to(400);
  start_study(scope, HeldOutStudy{});
  EXPECT_EQ(posted<StartStudy>(scope).back().step, 400);
  show_present(scope);
  start_study(scope, HeldOutStudy{});
  EXPECT_FALSE(posted<StartStudy>(scope).back().step);
}

}  // namespace
}  // namespace attnscope
