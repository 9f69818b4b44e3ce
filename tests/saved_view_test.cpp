// Saved views: written and restored, also from files with other content; handouts.
#include <gmock/gmock.h>

#include <string>

#include "lessons/lesson_text.h"
#include "posted.h"
#include "shell/export.h"
#include "shell/lessons/handout.h"
#include "shell/panels.h"
#include "shell/saved_view.h"
#include "shell/sentence.h"
#include "shell/training.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SavedView full_view() {
  SavedView view;
  view.run = "runs/mine";
  view.step = 2800;
  view.sentence = "The animal didn't cross the street because it was too \"wide\" – élargi.";
  view.reference = "L'animal";
  view.workspace = find_workspace("decoding");
  view.view = "tree";
  view.density = Density::simple;
  view.presentation = true;
  view.head = {AttentionPart::cross, 1, 3};
  view.picture = HeadPicture::lines;
  view.words = true;
  view.query = 10;
  view.key = 0;
  view.interventions.heads_off = {{AttentionPart::encoder, 0, 1}, {AttentionPart::decoder, 1, 0}};
  view.interventions.layers_off = {{true, 1}};
  view.interventions.forced = {{{AttentionPart::encoder, 1, 1}, 10, 1}};
  view.interventions.hidden = {{{AttentionPart::encoder, 1, 0}, {{3, 1}, {3, 2}}}};
  view.interventions.steered = {
      {.place = {false, 1}, .plus = "king", .minus = "man", .factor = -2.5F},
      {.place = {true, 0}, .plus = "feature 3", .direction = {0.1F, -1.5F}, .is_given = true}};
  view.interventions.replaced = {{.target = false, .position = 4, .id = 7, .text = "wide"}};
  view.interventions.no_residuals = true;
  return view;
}

TEST(SavedViews, AreReadAsTheyWereWritten) {
  for (const SavedView& view : {SavedView(), full_view()}) {
    const SavedViewRead read = saved_view_from_json(to_json(view));
    EXPECT_EQ(read.complaint, "");
    EXPECT_EQ(read.view, view);
  }
}

TEST(SavedViews, WithoutMostFieldsHaveTheirDefaults) {
  const SavedViewRead read = saved_view_from_json(R"({"attnscope_view": 1})");
  EXPECT_EQ(read.complaint, "");
  EXPECT_EQ(read.view, SavedView());
}

TEST(SavedViews, OfAnyOtherContentAreRefusedByName) {
  const auto complaint = [](const char* field) {
    return saved_view_from_json(std::string(R"({"attnscope_view": 1, )") + field + "}").complaint;
  };
  EXPECT_THAT(complaint(R"("workspace": "kitchen")"),
              AllOf(HasSubstr("workspace"), HasSubstr("kitchen"), HasSubstr("attention")));
  EXPECT_THAT(complaint(R"("workspace": "origins", "view": "tree")"), AllOf(HasSubstr("view"), HasSubstr("kernels")));
  EXPECT_THAT(complaint(R"("head": "encoder 0 1")"), AllOf(HasSubstr("head"), HasSubstr("from 1")));
  EXPECT_THAT(complaint(R"("head": 3)"), HasSubstr("head"));
  const auto layers = [](int count) {
    std::string list = "1";
    for (int i = 1; i < count; ++i) list += ",1";
    return R"("interventions": {"layers_off": [)" + list + "]}";
  };
  EXPECT_THAT(complaint(layers(10'000).c_str()), Not(HasSubstr("at most")));
  EXPECT_THAT(complaint(layers(10'001).c_str()), HasSubstr("at most 10000 items"));
  EXPECT_THAT(complaint(R"("query": -1)"), HasSubstr("0 to"));
  EXPECT_THAT(complaint(R"("query": 1e300)"), HasSubstr("query"));
  EXPECT_THAT(complaint(R"("key": 2.5)"), HasSubstr("an integer from 0 to"));
  EXPECT_THAT(complaint(R"("density": "dense")"), HasSubstr("simple"));
  EXPECT_THAT(complaint(R"("sentence": ["a"])"), HasSubstr("a string of at most"));
  EXPECT_THAT(complaint(R"("run": "")"), HasSubstr("shipped"));
  EXPECT_THAT(complaint(R"("sentense": "a")"), HasSubstr("no field \"sentense\""));
  EXPECT_THAT(complaint(R"("interventions": {"heads_off": ["encoder 1 1", 5]})"), HasSubstr("interventions.heads_off"));
  EXPECT_THAT(complaint(R"("interventions": {"layers_off": ["cross 1"]})"), HasSubstr("a layer"));
  EXPECT_THAT(complaint(R"("interventions": {"forced": [{"head": "encoder 1 1", "query": 1, "kez": 2}]})"),
              HasSubstr("kez"));
  EXPECT_THAT(saved_view_from_json(R"({"sentence": "a"})").complaint, HasSubstr("attnscope_view"));
  EXPECT_THAT(saved_view_from_json(R"({"attnscope_view": 2})").complaint, HasSubstr("1 to 1"));
  for (const std::string& text :
       {std::string(), std::string("[1]"), std::string("{\"attnscope_view\": 1"), std::string("\xff\xfe{"),
        std::string(100'000, '['), "{\"attnscope_view\": 1, \"sentence\": \"" + std::string(20'000, 'a') + "\"}",
        std::string(most_view_bytes + 1, ' ')})
    EXPECT_THAT(saved_view_from_json(text).complaint, Not(IsEmpty())) << text.substr(0, 30);
}

class ViewWindow : public testing::Test {
 protected:
  ViewWindow() {
    scope.facts.shipped_run = "/shipped";
    run.folder = "/shipped";
    receive(scope, {run}, animal_snapshot());
    settle();
  }

  void settle() {
    for (int i = 0; i < 4; ++i) {
      ui.frame(draw);
      receive(scope, {}, animal_snapshot(scope.asked.request));
    }
  }

  // Does what the worker would do.
  void open(const std::string& folder) {
    run.folder = folder;
    ++run.run;
    RunOpened opened = run;
    receive(scope, {opened}, nullptr);
    settle();
  }

  SavedView written() {
    scope.commands.clear();
    save_view(scope, "/there/x.attnscope", false);
    const auto files = posted<WriteFile>(scope);
    EXPECT_EQ(files.size(), 1U);
    const SavedViewRead read = saved_view_from_json(files.at(0).bytes);
    EXPECT_EQ(read.complaint, "");
    scope.commands.clear();
    return read.view;
  }

  RunOpened run = fixture_run(20);
  AppState scope;
  UiHarness ui{{1600, 1000}};
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(ViewWindow, WhatIsOnTheScreenComesBackAsItWas) {
  AttentionView& attention = scope.views.of<AttentionView>();
  show_view(scope.views, "inside");
  select(attention, {AttentionPart::encoder, 1, 2});
  attention.pinned_row = 10;
  attention.pinned_col = 1;
  attention.words = true;
  attention.interventions.heads_off = {{AttentionPart::encoder, 0, 1}};
  scope.reference = "L'animal";
  settle();
  const SavedView saved = written();
  EXPECT_EQ(saved.run, shipped_run_name);
  EXPECT_EQ(saved.view, "inside");
  EXPECT_EQ(saved.head, (HeadPlace{AttentionPart::encoder, 1, 2}));

  set_sentence(scope, "Another one.");
  scope.layout.workspace = find_workspace("positions");
  scope.views = Views();
  open("/elsewhere");
  receive(scope, FileRead{"/there/x.attnscope", to_json(saved), ""});
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/shipped");
  EXPECT_EQ(scope.layout.sentence, "Another one.") << "not before its run is there";
  open("/shipped");
  EXPECT_FALSE(scope.opening_view);
  EXPECT_EQ(written(), saved);
  EXPECT_EQ(scope.layout.workspace, find_workspace("attention"));
}

TEST_F(ViewWindow, OfTheOpenRunNothingIsOpenedAnew) {
  SavedView view = written();
  view.sentence = "The dog slept.";
  scope.commands.clear();
  open_view(scope, view, "/there");
  EXPECT_THAT(posted<OpenRun>(scope), IsEmpty());
  EXPECT_EQ(scope.layout.sentence, "The dog slept.");
}

TEST_F(ViewWindow, ARunIsFoundFromTheFilesFolderOn) {
  SavedView view = written();
  view.run = "../runs/mine";
  open_view(scope, view, "/there/views");
  ASSERT_EQ(posted<OpenRun>(scope).size(), 1U);
  EXPECT_EQ(posted<OpenRun>(scope)[0].path, "/there/runs/mine");
}

TEST_F(ViewWindow, IsGivenUpWhereItsRunCannotBeOpened) {
  SavedView view = written();
  view.run = "/gone";
  view.sentence = "Not to be seen.";
  open_view(scope, view, "/there");
  receive(scope, {Status{Activity::preparing, 0, ""}, Status{Activity::paused, 0, ""}}, nullptr);
  settle();
  EXPECT_FALSE(scope.opening_view);
  EXPECT_NE(scope.layout.sentence, "Not to be seen.");
}

TEST_F(ViewWindow, OneThatIsBrokenIsSaidAndChangesNothing) {
  const Layout before = scope.layout;
  receive(scope, FileRead{"/x.attnscope", "{", ""});
  receive(scope, FileRead{"/y.attnscope", "", "no such file"});
  ASSERT_EQ(scope.toasts.size(), 2U);
  EXPECT_THAT(scope.toasts[0].message.text, HasSubstr("/x.attnscope"));
  EXPECT_THAT(scope.toasts[1].message.text, HasSubstr("no such file"));
  EXPECT_EQ(scope.layout, before);
}

TEST_F(ViewWindow, OfARunInNoFolderCannotBeSaved) {
  open("");
  EXPECT_FALSE(can_save_view(scope));
  scope.saved_to = "/mine";
  EXPECT_TRUE(can_save_view(scope));
  EXPECT_EQ(written().run, "/mine");
}

TEST_F(ViewWindow, IsReadWhenItIsDropped) {
  scope.commands.clear();
  drop_path(scope, "/there/x.attnscope", false);
  ASSERT_EQ(posted<ReadFile>(scope).size(), 1U);
  EXPECT_THAT(scope.dropped_file, IsEmpty());
}

TEST_F(ViewWindow, LeavesTheLessonAndShowsItAfterwards) {
  SavedView view = written();
  view.sentence = "After the lesson.";
  scope.facts.lessons.emplace_back().name = "one";
  open("/readers");
  begin_lesson(scope, 0);
  open("/shipped");
  ASSERT_TRUE(in_lesson(scope));
  view.run = "/views";
  open_view(scope, view, "/");
  open("/readers");
  EXPECT_FALSE(scope.lessons.reader);
  EXPECT_NE(scope.layout.sentence, "After the lesson.");
  open("/views");
  EXPECT_EQ(scope.layout.sentence, "After the lesson.");
}

// ---- handouts

// Every tag that is opened is closed, in order.
bool is_well_formed(std::string_view html) {
  std::vector<std::string> open;
  for (std::size_t at = html.find('<'); at != std::string_view::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    if (end == std::string_view::npos) return false;
    const std::string_view tag = html.substr(at + 1, end - at - 1);
    if (tag.starts_with('!') || tag.ends_with('/')) continue;
    const std::string name(tag.substr(tag.starts_with('/'), tag.find_first_of(" \n") - tag.starts_with('/')));
    if (!tag.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || open.back() != std::string(tag.substr(1))) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

constexpr std::string_view picture =
    "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><rect width=\"4\"/></svg>\n";

const std::string lesson = R"(lesson: example
title.en: Wide & <narrow>
title.fr: Large & <mince>
[question]
en: Is {kernel-width @ start} wide?
fr: Est-ce large ?
[prediction]
kind: choose
en: What is it?
fr: Qu'est-ce ?
option.a.en: Narrow indeed
option.a.fr: Mince
option.a.right: kernel-width < 1
option.b.en: Wide indeed
option.b.fr: Large
option.b.right: kernel-width >= 1
[step one]
en: Make it wider.
fr: Plus large.
until: kernel-width > 0
[check]
en: It is {kernel-width @ one}.
fr: C'est {kernel-width @ one}.
[why]
en: Because of <h>.
fr: A cause de <h>.
formula: a < b
source: Watson 1964
)";

TEST_F(ViewWindow, AHandoutHasTheLessonsPartsAndThePicture) {
  const LessonRead read = read_lesson(lesson, "x.lesson");
  ASSERT_THAT(read.complaints, IsEmpty());
  scope.facts.lessons = {read.lesson};
  scope.facts.shipped_run = "";
  begin_lesson(scope, 0);
  lesson_progress(scope).guess.made = true;
  lesson_progress(scope).guess.option = 1;
  show_part(scope, LessonPart::touch);
  settle();
  const std::string html = handout_html(scope, picture);
  EXPECT_TRUE(is_well_formed(html)) << html;
  for (const char* part : {"Wide &amp; &lt;narrow&gt;", "Is 0.50 wide?", "What is it?", "<li>Narrow indeed</li>",
                           "You predicted: Wide indeed", "<li>Make it wider.</li>", "Not what you predicted.",
                           "It is 0.50.", "Because of &lt;h&gt;.", "a &lt; b", "Watson 1964", "<svg", "lang=\"en\""})
    EXPECT_THAT(html, HasSubstr(part));
  EXPECT_THAT(html, Not(HasSubstr("<?xml")));
  EXPECT_THAT(html, Not(HasSubstr("http://www.w3.org/2000/svg\" src"))) << "it needs no other file";
  scope.layout.language = Language::french;
  EXPECT_THAT(handout_html(scope, picture), AllOf(HasSubstr("Est-ce large\u00A0?"), HasSubstr("lang=\"fr\"")));
}

// A curve to be drawn by hand; then the guess and the truth, each in its own way.
TEST_F(ViewWindow, AHandoutDrawsTheCurve) {
  const std::string of_choice = "kind: choose";
  const std::string options =
      lesson.substr(lesson.find("option.a.en"), lesson.find("[step") - lesson.find("option.a.en"));
  std::string text = lesson;
  text.replace(text.find(options), options.size(),
               "from: 0\nto: 2\nwithin: 0.1\noption.a.at: 4\noption.a.value: kernel-width @ one\n"
               "option.b.at: 8\noption.b.value: kernel-width @ start\n"
               "across.en: a & b\nacross.fr: a et b\nup.en: width\nup.fr: largeur\n");
  text.replace(text.find(of_choice), of_choice.size(), "kind: curve");
  const LessonRead read = read_lesson(text, "x.lesson");
  ASSERT_THAT(read.complaints, IsEmpty());
  scope.facts.lessons = {read.lesson};
  scope.facts.shipped_run = "";
  begin_lesson(scope, 0);
  settle();
  const std::string before = handout_html(scope, picture);
  EXPECT_TRUE(is_well_formed(before)) << before;
  EXPECT_THAT(before, AllOf(HasSubstr(">4</text>"), HasSubstr(">8</text>"), HasSubstr(">a &amp; b</text>"),
                            HasSubstr(">width</text>"), Not(HasSubstr("<polyline"))));
  lesson_progress(scope).guess.made = true;
  lesson_progress(scope).guess.curve = {0, 2};
  show_part(scope, LessonPart::touch);
  settle();
  ASSERT_TRUE(verdict_of(scope));
  const std::string html = handout_html(scope, picture);
  EXPECT_TRUE(is_well_formed(html)) << html;
  EXPECT_THAT(html, HasSubstr("stroke-dasharray=\"6 4\" points=\"146.0,160.0 326.0,10.0 \""));
  EXPECT_THAT(html, HasSubstr("stroke-width=\"3\" points=\"146.0,122.5 326.0,122.5 \"")) << "both are 0.5";
}

TEST_F(ViewWindow, AHandoutWithoutALessonSaysWhatThePictureIsOf) {
  const std::string html = handout_html(scope, picture);
  EXPECT_TRUE(is_well_formed(html)) << html;
  EXPECT_THAT(html, AllOf(HasSubstr("<h1>Attention</h1>"), HasSubstr("The animal didn't cross"), HasSubstr("<svg")));
}

TEST_F(ViewWindow, AHandoutIsOrderedAndWritten) {
  order_handout(scope, "/there/x.html", true);
  const auto order = next_picture(scope);
  ASSERT_TRUE(order);
  EXPECT_TRUE(order->vector);
  scope.commands.clear();
  deliver(scope, *order, std::string(picture));
  ASSERT_EQ(posted<WriteFile>(scope).size(), 1U);
  EXPECT_THAT(posted<WriteFile>(scope)[0].bytes, HasSubstr("<h1>Attention</h1>"));
}

}  // namespace
}  // namespace attnscope
