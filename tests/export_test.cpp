// Taking pictures and numbers away: what is written where, and what is asked first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <vector>

#include "common/matrix_text.h"
#include "posted.h"
#include "shell/export.h"
#include "shell/panels.h"
#include "shell/purposes.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "widgets/painter.h"
#include "widgets/svg.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

class ExportTest : public testing::Test {
 protected:
  ExportTest() {
    scope.layout.sentence = "src1 src2";
    receive(scope, {fixture_run(20), Status{Activity::paused, 1000, "CPU"}}, nullptr);
    receive(scope, {}, fixture_snapshot({3, 4, 2, 4}, scope.asked.request));
    select(attention, {AttentionPart::encoder, 1, 2});
    ui.frames(3, draw);
    scope.commands.clear();
  }

  void record(std::initializer_list<std::int64_t> steps) {
    receive(scope, {SentencePinned{"src1 src2"}}, nullptr);
    for (const std::int64_t step : steps) {
      auto inspection = fixture_snapshot({3, 4, 2, 4});
      inspection->step = step;
      receive(scope, {FrameRecorded{frame_of(*inspection)}}, nullptr);
    }
    ui.frames(2, draw);
  }

  // The name of a file in /data, as typed into the dialog that a menu item opened.
  void save_as(const char* item, const char* name, std::vector<DirectoryEntry> entries = {}) {
    ASSERT_TRUE(ui.click_text("Export", draw));
    ASSERT_TRUE(ui.click_text(item, draw)) << item;
    ASSERT_EQ(posted<ListDirectory>(scope).size(), 1U);
    receive(scope, {DirectoryListed{"/data", std::move(entries), ""}}, nullptr);
    ui.frames(3, draw);
    ui.key(Key::a, draw, {.ctrl = true});
    ui.type(name, draw);
    ui.key(Key::enter, draw);
    ui.frames(3, draw);
  }

  std::string csv_of_head() const {
    const Snapshot& snapshot = *scope.a.newest.snapshot;
    const std::vector<std::string> labels = texts_of(snapshot.source);
    return matrix_csv(snapshot.encoder[1][2], labels, labels);
  }

  AppState scope;
  AttentionView& attention = scope.views.of<AttentionView>();
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(ExportTest, NumbersAreThoseOfTheSelectedHead) {
  save_as("Numbers as CSV", "mine.csv");
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  EXPECT_EQ(posted<WriteFile>(scope)[0].path, "/data/mine.csv");
  EXPECT_EQ(posted<WriteFile>(scope)[0].bytes, csv_of_head());
  EXPECT_FALSE(posted<WriteFile>(scope)[0].replace);
}

TEST_F(ExportTest, NumbersHaveTheirQueriesAsRowsAndTheirKeysAsColumns) {
  for (const AttentionPart part : {AttentionPart::decoder, AttentionPart::cross}) {
    select(attention, {part, 0, 1});
    ui.frames(3, draw);
    const Snapshot& snapshot = *scope.a.newest.snapshot;
    const bool cross = part == AttentionPart::cross;
    const std::string expected =
        matrix_csv(maps_of(snapshot, part)[0][1], texts_of(cross ? snapshot.target_out : snapshot.target_in),
                   texts_of(cross ? snapshot.source : snapshot.target_in));
    copy_numbers(scope);
    EXPECT_EQ(std::string(ImGui::GetClipboardText()), expected);
    scope.commands.clear();
    save_as("Numbers as CSV", "mine.csv");
    ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
    EXPECT_EQ(posted<WriteFile>(scope)[0].bytes, expected);
  }
}

TEST_F(ExportTest, NumbersOfSeveralHeadsAreThoseShown) {
  attention.level = AttentionLevel::head;
  attention.mix = HeadMix::layer_mean;
  ui.frames(3, draw);
  save_as("Numbers as CSV", "mean.csv");
  Matrix mean = scope.a.newest.snapshot->encoder[1][0];
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    float sum = 0;
    for (const Matrix& head : scope.a.newest.snapshot->encoder[1]) sum += head.values[i];
    mean.values[i] = sum / static_cast<float>(scope.a.newest.snapshot->encoder[1].size());
  }
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  const std::vector<std::string> labels = texts_of(scope.a.newest.snapshot->source);
  EXPECT_EQ(posted<WriteFile>(scope)[0].bytes, matrix_csv(mean, labels, labels));

  choose(scope, Purpose::save_json);
  EXPECT_EQ(scope.browser.name, "encoder-L2-H3-layer-mean.json");
  attention.level = AttentionLevel::model;  // where every head is shown, the selected one counts
  choose(scope, Purpose::save_json);
  EXPECT_EQ(scope.browser.name, "encoder-L2-H3.json");
}

TEST_F(ExportTest, JsonHasItsEndingWhateverWasTyped) {
  save_as("Numbers as JSON", "mine");
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  EXPECT_EQ(posted<WriteFile>(scope)[0].path, "/data/mine.json");
  EXPECT_THAT(posted<WriteFile>(scope)[0].bytes, HasSubstr("\"values\""));
}

TEST_F(ExportTest, ANameIsProposed) {
  choose(scope, Purpose::save_csv);
  EXPECT_EQ(scope.browser.name, "encoder-L2-H3.csv");
  choose(scope, Purpose::save_svg);
  EXPECT_EQ(scope.browser.name, "attention.svg");
}

TEST_F(ExportTest, WhatIsThereIsAskedAbout) {
  const std::vector<DirectoryEntry> there = {{"mine.csv", false, false, 10}};
  save_as("Numbers as CSV", "mine.csv", there);
  EXPECT_TRUE(posted<WriteFile>(scope).empty());
  EXPECT_TRUE(ui.drew("This file already exists"));
  ui.move(*ui.find_text("Keep it"), draw);
  ui.frames(60, draw);
  EXPECT_TRUE(ui.drew("Saves nothing; the existing file stays."));
  ASSERT_TRUE(ui.click_text("Keep it", draw));
  EXPECT_TRUE(posted<WriteFile>(scope).empty());
  EXPECT_FALSE(ui.drew("This file already exists"));
  scope.commands.clear();
  save_as("Numbers as CSV", "mine", there);
  ASSERT_TRUE(ui.click_text("Replace", draw) && ui.find_text("x") != std::nullopt);
  for (int nth = 0; nth < 4 && posted<WriteFile>(scope).empty(); ++nth) {  // "Replace the existing file?" is the title
    const auto button = ui.find_text("Replace", nth);
    if (button) ui.click(*button, draw);
  }
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  EXPECT_TRUE(posted<WriteFile>(scope)[0].replace);
}

TEST_F(ExportTest, AnswersAreSaid) {
  receive(scope, {FileWritten{"/data/a.csv", ""}, FileWritten{"/x/b.csv", "cannot write /x/b.csv: No space left"}},
          nullptr);
  ui.frames(3, draw);
  EXPECT_TRUE(ui.drew("Wrote /data/a.csv"));
  EXPECT_TRUE(ui.drew("cannot write /x/b.csv: No space left"));
  ASSERT_EQ(scope.toasts.size(), 2U);
  EXPECT_EQ(scope.toasts[1].message.severity, Severity::error);
}

TEST_F(ExportTest, NumbersAreCopied) {
  ASSERT_TRUE(ui.click_text("Export", draw));
  ASSERT_TRUE(ui.click_text("Copy numbers", draw));
  EXPECT_EQ(std::string(ImGui::GetClipboardText()), csv_of_head());
}

TEST_F(ExportTest, TheKeyOpensTheMenu) {
  ui.key(Key::e, draw, {.ctrl = true});
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Picture as SVG"));
  EXPECT_TRUE(ui.drew("Film as numbered PNGs"));
}

TEST_F(ExportTest, EnterChoosesInTheMenu) {
  ui.key(Key::e, draw, {.ctrl = true});
  ui.frames(2, draw);
  ui.key(Key::down, draw);
  ui.key(Key::enter, draw);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Film as numbered PNGs"));
  EXPECT_EQ(scope.purpose, Purpose::save_png) << "the first key shows the first item";
}

TEST_F(ExportTest, APictureIsTakenOfTheNextFrameAndOfNoOther) {
  save_as("Picture as PNG", "mine.png");
  EXPECT_TRUE(animating(scope));
  const auto order = next_picture(scope);
  ASSERT_TRUE(order);
  EXPECT_FALSE(order->vector);
  EXPECT_TRUE(scope.exports.taking);
  deliver(scope, *order, "pixels");
  EXPECT_FALSE(scope.exports.taking);
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  EXPECT_EQ(posted<WriteFile>(scope)[0].path, "/data/mine.png");
  EXPECT_EQ(posted<WriteFile>(scope)[0].bytes, "pixels");
  EXPECT_FALSE(next_picture(scope));
}

TEST_F(ExportTest, APictureIsCopiedInsteadOfWritten) {
  ui.key(Key::e, draw, {.ctrl = true});
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Copy picture", draw));
  const auto order = next_picture(scope);
  ASSERT_TRUE(order);
  EXPECT_TRUE(scope.exports.captioned);
  deliver(scope, *order, "pixels");
  EXPECT_EQ(scope.requests.copy_picture, "pixels");
  EXPECT_TRUE(posted<WriteFile>(scope).empty());
  EXPECT_FALSE(next_picture(scope));
  picture_copied(scope, "xclip: No such file or directory");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("could not be copied: xclip"));
  picture_copied(scope, "");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("Copied a picture of the workspace"));
}

TEST_F(ExportTest, NothingLiesOverAPicture) {
  notify(scope, Severity::error, "an error that stays");
  ui.frames(2, draw);
  EXPECT_TRUE(ui.drew("an error that stays"));
  scope.exports.taking = true;
  ui.frame(draw);
  EXPECT_FALSE(ui.drew("an error that stays"));
}

TEST_F(ExportTest, APictureOfTheWorkspaceSaysWhatItIsOf) {
  save_as("Picture as PNG", "mine.png");
  ASSERT_TRUE(next_picture(scope));
  const std::string step = fmt::format("step{}", scope.a.complete.snapshot->step);
  ui.frame(draw);
  EXPECT_TRUE(ui.drew(step)) << ui.drawn_text();
  deliver(scope, {.path = "/data/mine.png"}, "pixels");
  scope.exports.picture = PictureOrder{.path = "whole.png", .whole_window = true};
  ASSERT_TRUE(next_picture(scope));
  EXPECT_FALSE(scope.exports.captioned) << "there the sentence bar says it";
}

// Draws as the window does: at most one picture a frame, answered by a worker that writes all.
TEST_F(ExportTest, AFilmHasAPictureOfEveryFrame) {
  record({0, 100, 200, 300, 400});
  order_film(scope, "/data/film", false);
  std::vector<std::int64_t> steps;
  std::size_t answered = 0;
  for (int i = 0; i < 40 && scope.exports.film; ++i) {
    const auto order = next_picture(scope);
    ui.frame(draw);
    if (order) {
      steps.push_back(shown_maps(scope).complete.snapshot->step);
      EXPECT_EQ(order->path, "/data/film/film-0000" + std::to_string(steps.size()) + ".png");
      deliver(scope, *order, "png");
    }
    EXPECT_LE(posted<WriteFile>(scope).size() - answered, 3U);
    if (i % 3 == 2) receive(scope, {FileWritten{posted<WriteFile>(scope)[answered++].path, ""}}, nullptr);
  }
  EXPECT_THAT(steps, testing::ElementsAre(0, 100, 200, 300, 400));
  EXPECT_FALSE(scope.exports.film);
  EXPECT_FALSE(scope.a.past.snapshot);
  ASSERT_EQ(scope.toasts.size(), 1U);
  EXPECT_EQ(scope.toasts[0].message.text, "Saved 5 pictures in /data/film");
}

TEST_F(ExportTest, AFilmCanBeStoppedAndEndsAtAnError) {
  record({0, 100, 200, 300, 400});
  order_film(scope, "/data/film", false);
  deliver(scope, *next_picture(scope), "png");
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Stop the film", draw));
  EXPECT_FALSE(next_picture(scope));
  receive(scope, {FileWritten{"/data/film/film-00001.png", ""}}, nullptr);
  EXPECT_FALSE(scope.exports.film);
  EXPECT_EQ(scope.toasts.back().message.text, "Saved 1 picture in /data/film");

  order_film(scope, "/full/film", false);
  deliver(scope, *next_picture(scope), "png");
  receive(scope, {FileWritten{"/full/film/film-00001.png", "cannot write /full/film/film-00001.png: full"}}, nullptr);
  EXPECT_FALSE(scope.exports.film);
  EXPECT_EQ(scope.toasts.back().message.severity, Severity::error);
}

TEST_F(ExportTest, AFilmEndsWhenItsStepsAreNoLongerShown) {
  record({0, 100, 200});
  order_film(scope, "/data/film", false);
  deliver(scope, *next_picture(scope), "png");
  set_sentence(scope, "another");
  EXPECT_FALSE(next_picture(scope));
  EXPECT_FALSE(scope.exports.film);
}

TEST_F(ExportTest, WhatCannotBeTakenIsNotOffered) {
  AppState nothing;
  for (const Purpose purpose :
       {Purpose::save_png, Purpose::save_svg, Purpose::save_csv, Purpose::save_json, Purpose::save_film}) {
    EXPECT_FALSE(can_choose(nothing, purpose));
    choose(nothing, purpose);
  }
  copy_numbers(nothing);
  EXPECT_TRUE(nothing.commands.empty());
  EXPECT_FALSE(can_choose(scope, Purpose::save_film));  // nothing is pinned
}

TEST_F(ExportTest, RecentRunsAreOfferedWhereARunIsChosenAndNowhereElse) {
  scope.layout.recent_runs = {"/runs/yesterday"};
  const auto offers = [&](Purpose purpose) {
    choose(scope, purpose);
    receive(scope, {DirectoryListed{"/data", {}, ""}}, nullptr);
    ui.frames(3, draw);
    const bool offered = ui.drew("yesterday");
    ui.key(Key::escape, draw);
    ui.frames(3, draw);
    return offered;
  };
  EXPECT_TRUE(offers(Purpose::open_run));
  EXPECT_FALSE(offers(Purpose::save_curves));
  EXPECT_TRUE(offers(Purpose::compare_run));
  EXPECT_FALSE(offers(Purpose::save_report));
}

TEST_F(ExportTest, ADialogIsInTheMiddleOfTheWindow) {
  scope.serving.open = true;
  ui.frames(4, draw);
  const std::optional<ImVec2> title = ui.find_text("Let others watch this run");
  const std::optional<ImVec2> close = ui.find_text("Close");
  ASSERT_TRUE(title && close);
  EXPECT_NEAR((title->y + close->y) / 2, ui.io().DisplaySize.y / 2, 30);
}

TEST_F(ExportTest, CurvesAreSavedUnderTheNameOfTheCorpus) {
  choose(scope, Purpose::save_curves);
  EXPECT_EQ(scope.browser.name, "english-french-curves.csv");
  scope.commands.clear();
  write_curves(scope, "/data/curves.csv", false);
  ASSERT_EQ(scope.commands.size(), 1U);
  EXPECT_TRUE(std::get<WriteFile>(scope.commands.front()).bytes.starts_with("step,train_loss,"));
}

TEST_F(ExportTest, AReportIsOfTheSavedRun) {
  scope.a.run.folder = "";
  EXPECT_FALSE(can_choose(scope, Purpose::save_report));  // nothing on disk to report
  scope.a.run.folder = "/runs/opened";
  scope.saved_to = "/runs/saved";
  save_as("Report", "mine");
  ASSERT_TRUE(scope.requests.report);
  EXPECT_EQ(scope.requests.report->folder, "/data/mine");
  EXPECT_THAT(scope.requests.report->runs, testing::ElementsAre("/runs/saved"));
  EXPECT_TRUE(ui.drew("The report is being written to /data/mine"));
}

// ---- a whole frame as shapes

TEST_F(ExportTest, AVectorPictureHoldsAllThatIsDrawn) {
  PictureRecorder recorder;
  ui.skin.recorder = &recorder;
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
  recorder.begin({{0, 0}, {1280, 720}});
  ui.frame(draw);
  const Capture whole = with_all_drawn(recorder.end(), *ImGui::GetDrawData(), ui.skin);
  const std::string svg = to_svg(whole, ui.skin.theme.background);
  // Texts of Dear ImGui's own, whole lines of them, and those of our pictures.
  for (const char* text : {">d_model<", ">Sentence<", ">Encoder, layer 2, head 3<", ">Learning rate<", ">Train<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, HasSubstr("transform=\"rotate("));  // and what does not lie level is text, too
  const Capture workspace = cropped(whole, scope.exports.area);
  EXPECT_LT(workspace.shapes.size(), whole.shapes.size());
  EXPECT_EQ(to_svg(workspace, 0).find(">d_model<"), std::string::npos);
}

// A later shape covers an earlier one, in the file as on the screen.
TEST_F(ExportTest, AVectorPictureKeepsTheOrderOfTextsAndShapes) {
  PictureRecorder recorder;
  ui.skin.recorder = &recorder;
  recorder.begin({{0, 0}, {1280, 720}});
  ui.panel([&] {
    ImGui::TextUnformatted("under");
    Painter(ui.skin).rect({0, 0}, {100, 30}, ui.skin.theme.accent, 0, 2);
    ImGui::TextUnformatted("over");
  });
  const Capture whole = with_all_drawn(recorder.end(), *ImGui::GetDrawData(), ui.skin);
  std::string order;
  for (const Drawn& drawn : whole.shapes) {
    if (const auto* text = std::get_if<DrawnText>(&drawn.shape)) order += text->text + " ";
    if (std::holds_alternative<DrawnRect>(drawn.shape) || std::holds_alternative<DrawnLine>(drawn.shape))
      if (!order.ends_with("shape ")) order += "shape ";
  }
  EXPECT_THAT(order, HasSubstr("under shape over ")) << order;
}

}  // namespace
}  // namespace attnscope
