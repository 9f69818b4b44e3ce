// Lessons as text, whatever somebody writes; and their page beside the window.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "lessons/lesson_text.h"
#include "lessons/measures.h"
#include "messages/metrics.h"
#include "shell/dialogs/palette.h"
#include "shell/lessons/lessons.h"
#include "shell/lessons/writing.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "snapshot_fixture.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"
#include "workspaces/origins/view.h"

namespace attnscope {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string good = R"(# a comment
lesson: example
place: 3
title.en: An example
title.fr: Un exemple

[start]
show: kernels
width: 0.5
lit: workspace

[question]
en: Is {kernel-width @ start}
  wide?
fr: Est-ce que {kernel-width @ start} est large ?

[prediction]
kind: choose
en: What is it?
fr: Qu'est-ce ?
option.narrow.en: Narrow indeed
option.narrow.fr: Bien mince
option.narrow.right: kernel-width @ start < 1
option.wide.en: Wide indeed
option.wide.fr: Bien large
option.wide.right: kernel-width @ start >= 1

[step wider]
en: Make it wider.
fr: Faites plus large.
until: kernel-width > 2 and workspace = "origins"
lit: workspace
width: 3

[check]
en: It went from {kernel-width @ start} to {kernel-width @ wider}.
fr: De {kernel-width @ start} à {kernel-width @ wider}.

[why]
en: Because.
fr: Parce que.
formula: h
source: Watson 1964
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::vector<std::string> complaints(const std::string& text) {
  return read_lesson(text, "x.lesson").complaints;
}

TEST(LessonText, IsRead) {
  const LessonRead read = read_lesson(good, "x.lesson");
  EXPECT_THAT(read.complaints, IsEmpty());
  const Lesson& lesson = read.lesson;
  EXPECT_EQ(lesson.question.in(Language::english), "Is {kernel-width @ start} wide?");
  EXPECT_EQ(lesson.start.size(), 2U);
  EXPECT_EQ(lesson.steps.at(0).until.size(), 2U);
  EXPECT_EQ(lesson.prediction.options.size(), 2U);
  EXPECT_EQ(lesson.source, "Watson 1964");
}

TEST(LessonText, AMistakeIsNamedWithItsLine) {
  struct Mistake {
    std::string from, to, complaint;
  };
  const Mistake mistakes[] = {
      {"show: kernels", "show: kernel", "x.lesson:8: there is no view \"kernel\""},
      {"width: 0.5", "width: 0", "x.lesson:9: 0 is out of range, allowed: 0.05 to 20"},
      {"width: 0.5", "width: 1 2", "x.lesson:9: expected 1 number(s)"},
      {"width: 0.5", "widht: 0.5", "x.lesson:9: unknown key \"widht\" in [start]"},
      {"lit: workspace", "lit: moon",
       "x.lesson:10: there is no anchor \"moon\", allowed: sentence, workspace, tabs, setup, curves"},
      {"[question]", "[question", "x.lesson:12: a heading must end with ]"},
      {"  wide?", "wide?", "x.lesson:14: expected \"key: value\" or \"[section]\""},
      {"en: Is {kernel-width @ start}", "en: Is {kernel-widht}", "x.lesson:13: there is no measure \"kernel-widht\""},
      {"en: Is {kernel-width @ start}", "en: Is {kernel-width 2}", "x.lesson:13: kernel-width takes nothing"},
      {"en: Is {kernel-width @ start}", "en: Is {", "x.lesson:13: { without }"},
      {"en: Is {kernel-width @ start}", "en: Is {}", "x.lesson:13: a measure is missing"},
      {"kind: choose", "kind: guess",
       "x.lesson:18: there is no kind \"guess\", allowed: choose, mark, number, order, curve"},
      {"kind: choose", "kind: curve", "x.lesson:1: the curve's vertical axis has no text"},
      {"kind: choose", "kind: mark", "x.lesson:1: [prediction] has no \"value\" to compare with"},
      {"@ start < 1", "@ start ~ 1",
       "x.lesson:23: a condition must be \"MEASURE = VALUE\", with one of = != < > <= >= has between spaces"},
      {"@ start < 1", "@ begin < 1",
       "x.lesson:1: \"kernel-width\" is asked for at \"begin\", but there is no step of that name"},
      {"title.en: An example\ntitle.fr: Un exemple\n", "", "x.lesson:1: the title has no text"},
      {"[why]", "[reason]", "x.lesson:1: the section [why] is missing"},
      {"fr: Parce que.", "en: Again.", "x.lesson:41: a second \"en\""},
      {"source: Watson 1964", "source: \xff", "x.lesson:43: the line contains bytes that are not UTF-8 text"},
  };
  for (const Mistake& mistake : mistakes)
    EXPECT_THAT(complaints(with(mistake.from, mistake.to)), Contains(mistake.complaint)) << mistake.to;
}

TEST(LessonText, AnyBytesAreAnsweredWithFileAndLine) {
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    for (unsigned i = 0; i <= round % 5U; ++i) {
      const std::size_t at = random() % text.size();
      const std::size_t count = random() % 20;
      if (random() % 2 == 0)
        text.replace(at, count, 1, static_cast<char>(random() % 256));
      else
        text.insert(at, good.substr(random() % good.size(), count));
    }
    for (const std::string& complaint : complaints(text)) ASSERT_TRUE(complaint.starts_with("x.lesson:")) << complaint;
  }
  EXPECT_THAT(complaints(std::string(most_lesson_bytes + 1, 'a')), testing::SizeIs(1));
  EXPECT_THAT(complaints(""), Contains("x.lesson:1: the section [question] is missing"));
}

TEST(LessonText, BothLanguagesOfWhatShipsComputeTheSame) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(ATTNSCOPE_TEST_DATA) / "../../assets/lessons")) {
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    const LessonRead read = read_lesson(text.str(), entry.path().filename());
    EXPECT_THAT(read.complaints, IsEmpty());
    for (const Words* words : {&read.lesson.question, &read.lesson.found, &read.lesson.why}) {
      std::vector<std::string> computed[2];
      for (std::size_t language = 0; language < 2; ++language)
        for (const WordsPart& part : parts_of(words->by_language[language]))
          if (part.value) computed[language].push_back(expression_text(*part.value) + "@" + part.value->moment);
      EXPECT_EQ(computed[0], computed[1]) << entry.path();
    }
    ++count;
  }
  EXPECT_GE(count, 9);
}

TEST(LessonMeasures, AreOfTheLook) {
  const auto inspection = animal_snapshot();
  Matrix& map = inspection->encoder[1][2];
  for (int col = 0; col < map.cols; ++col) map.at(10, col) = col == 1 ? 0.75F : 0;
  const Views views;
  const LessonSight sight{inspection.get(), views, *find_workspace("attention"), Config(), Curves()};
  const auto value = [&](const char* text) { return value_text(measured(read_expression(text), sight).value()); };
  EXPECT_EQ(value("weight encoder 2 3 it animal"), "0.75");
  EXPECT_EQ(value("most encoder 2 3 it"), "animal");
  EXPECT_EQ(value("heads-off"), "0");
  EXPECT_EQ(value("workspace"), "attention");
  EXPECT_EQ(value("output"), inspection->output_text);
  EXPECT_FALSE(measured(read_expression("weight encoder 9 3 it animal"), sight));
  EXPECT_FALSE(measured(read_expression("weight encoder 2 3 it elephant"), sight));
}

TEST(LessonMeasures, AreAllInTheManual) {
  std::ifstream in(std::filesystem::path(ATTNSCOPE_TEST_DATA) / "../../assets/manual/lesson-format.md");
  std::stringstream readme;
  readme << in.rdbuf();
  for (const Measure& measure : lesson_measures())
    EXPECT_THAT(readme.str(), HasSubstr("| `" + std::string(measure.name))) << measure.help;
}

TEST(LessonLanguage, IsRememberedOrTheSystems) {
  Layout layout;
  EXPECT_FALSE(layout_from_json(layout_to_json(layout)).layout.language);
  layout.language = Language::french;
  EXPECT_EQ(layout_from_json(layout_to_json(layout)).layout, layout);
  const LayoutRead read = layout_from_json(R"({"language": "la"})");
  EXPECT_FALSE(read.layout.language);
  EXPECT_THAT(read.complaint, HasSubstr("\"language\""));
}

TEST(LessonMeasures, AreOfTheRun) {
  const auto inspection = animal_snapshot();
  inspection->step = 40;
  const Views views;
  Config config;
  config.model.attention = "luong-dot";
  inspection->known_words = 310;
  inspection->unseen = {{1, 2, "animal", {}}};
  Curves curves;
  MetricPoint point;
  point.step = 40;
  point.set(metric("validation_nll"), 0.25);
  curves.append(point);
  const LessonSight sight{inspection.get(), views, *find_workspace("origins"), config, curves};
  const auto value = [&](const char* text) { return measured(read_expression(text), sight); };
  EXPECT_EQ(value_text(value("metric validation_nll").value()), "0.25");
  EXPECT_FALSE(value("metric loss")) << "not measured";
  EXPECT_FALSE(value("metric nothing"));
  EXPECT_EQ(value_text(value("unseen-words").value()), "1");
  EXPECT_EQ(value_text(value("updates").value()), "40");
  EXPECT_EQ(value_text(value("field model.attention").value()), "luong-dot");
  EXPECT_EQ(value_text(value("field model.d_model").value()), std::to_string(config.model.d_model));
  EXPECT_FALSE(value("kept-at it")) << "a Transformer has no gates";
  EXPECT_FALSE(value("exact 4"));
}

TEST(LessonMeasures, OfAMemoryAreOfItsGates) {
  const auto inspection = animal_snapshot();
  auto cells = std::make_shared<RecurrentStates>();
  cells->cell = "lstm";
  cells->tokens = cells->source = {"▁we", "▁saw", ",", "▁it", "</s>"};
  Matrix forget(5, 2);
  forget.values = {1, 1, 0.5F, 0.25F, 0.01F, 0.01F, 0.125F, 0.125F, 0, 0};
  cells->gates = {{"forget gate", "f", {}, {}, forget}};
  cells->read_out = {"a", "b", "c", "d", "e"};
  inspection->recurrent = cells;
  const Views views;
  const Config config;
  const LessonSight sight{inspection.get(), views, *find_workspace("origins"), config, Curves()};
  const auto value = [&](const char* text) { return measured(read_expression(text), sight).value(); };
  EXPECT_DOUBLE_EQ(std::get<double>(value("kept-at saw")), 0.375);
  EXPECT_EQ(value_text(value("forgets-most")), "it") << "neither a comma nor the end is a word";
  forget.at(4, 0) = 1;
  cells->gates[0].values = forget;
  EXPECT_NEAR(std::get<double>(value("left-of saw")), 0.01 * 0.125 / 2, 1e-9);
  EXPECT_EQ(value_text(value("said-after it")), "d");
  EXPECT_FALSE(measured(read_expression("left-of elephant"), sight));
}

TEST(LessonMeasures, OfASublayerAreOfItsStackItsLayerAndItsKind) {
  const auto inspection = animal_snapshot();
  inspection->sublayers.clear();
  const auto add = [&](Sublayer sublayer, bool decoder, int layer, float norm) {
    SublayerEffect& effect = inspection->sublayers.emplace_back();
    effect.sublayer = sublayer;
    effect.decoder = decoder;
    effect.layer = layer;
    effect.norm_added.assign(inspection->source.size(), norm);
  };
  add(Sublayer::self_attention, false, 1, 1);
  add(Sublayer::feed_forward, true, 1, 2);
  add(Sublayer::feed_forward, false, 0, 3);
  add(Sublayer::feed_forward, false, 1, 4);
  const Views views;
  const Config config;
  const LessonSight sight{inspection.get(), views, *find_workspace("origins"), config, Curves()};
  EXPECT_EQ(value_text(measured(read_expression("feed-forward encoder 2 it"), sight).value()), "4");
  EXPECT_FALSE(measured(read_expression("feed-forward encoder 3 it"), sight));
}

TEST(LessonMeasures, OfLengthsAreOfTheWeightsOfNow) {
  const auto inspection = animal_snapshot();
  Views views;
  LengthResult tried{
      .question = {}, .model = "LSTM", .trained = 6, .points = {{4, 10, 9, {}}, {5, 10, 6, {}}, {6, 10, 2, {}}}};
  take_lengths(views.of<OriginsView>().lengths, tried, inspection->run, inspection->step);
  const Config config;
  const LessonSight sight{inspection.get(), views, *find_workspace("origins"), config, Curves()};
  const auto value = [&](const char* text) { return measured(read_expression(text), sight); };
  EXPECT_EQ(value_text(value("exact 5").value()), "0.60");
  EXPECT_FALSE(value("exact 9"));
  EXPECT_EQ(value_text(value("exact-up-to 0.5").value()), "5");
  EXPECT_EQ(value_text(value("exact-up-to 0.95").value()), "0");
  inspection->step += 1;
  EXPECT_FALSE(value("exact 5")) << "it has learned on since";
}

// ---- a run of its own

const std::string trains = R"([run]
corpus.source: reverse
model.d_model: 16
training.steps: 20

[start]
show: kernels)";

TEST(LessonsThatTrain, HaveTheirConfiguration) {
  const LessonRead read = read_lesson(with("[start]\nshow: kernels", trains), "x.lesson");
  EXPECT_THAT(read.complaints, IsEmpty());
  ASSERT_TRUE(read.lesson.run);
  EXPECT_EQ(read.lesson.run->corpus.source, "reverse");
  EXPECT_EQ(read.lesson.run->training.steps, 20);
}

TEST(LessonsThatTrain, AreRefusedWhereTheirConfigurationIs) {
  const auto complaints_of = [](const std::string& from, const std::string& to) {
    std::string text = with("[start]\nshow: kernels", trains);
    text.replace(text.find(from), from.size(), to);
    return read_lesson(text, "x.lesson").complaints;
  };
  EXPECT_THAT(complaints_of("d_model: 16", "d_mdoel: 16"), Contains(HasSubstr("model.d_model")));
  EXPECT_THAT(complaints_of("steps: 20", "steps: 0"), Contains(HasSubstr("training.steps")));
  EXPECT_THAT(complaints_of("d_model: 16", "d_model: 15"), Contains(HasSubstr("x.lesson:")));
  EXPECT_THAT(complaints_of("width: 3", "change: model.attention"), Contains(HasSubstr("FIELD=VALUE")));
  EXPECT_THAT(complaints_of("width: 3", "change: model.attention=most"), Contains(HasSubstr("bahdanau")));
  EXPECT_THAT(complaints_of("width: 3", "train: twice"), Contains(HasSubstr("\"all\"")));
}

// ---- the page

class LessonWindow : public testing::Test {
 protected:
  LessonWindow() {
    scope.facts.lessons = {read_lesson(good, "x.lesson").lesson};
    receive(scope, {fixture_run(20)}, animal_snapshot());
    settle();
  }

  // The worker's answers to what is asked.
  void settle() {
    for (int i = 0; i < 4; ++i) {
      ui.frame(draw);
      auto inspection = animal_snapshot(scope.asked.request);
      receive(scope, {}, inspection);
    }
    scope.commands.clear();
  }

  void begin() {
    ui.key(Key::f1, draw, {.ctrl = true});
    settle();
    ASSERT_TRUE(ui.click_text("An example", draw));
    settle();
  }

  void page(bool down) {
    ui.key(down ? Key::page_down : Key::page_up, draw, {.shift = true});
    settle();
  }

  double& width() { return scope.views.of<OriginsView>().kernels.width; }

  AppState scope;
  UiHarness ui;
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(LessonWindow, IsPlayedToItsEndWithKeysAndClicks) {
  begin();
  EXPECT_TRUE(ui.drew("Is 0.50 wide?"));
  page(true);
  ASSERT_TRUE(ui.click_text("Narrow indeed", draw));
  page(true);
  EXPECT_TRUE(ui.drew("Narrow indeed")) << "the prediction stays visible";
  page(true);
  EXPECT_TRUE(ui.drew("Complete this step first")) << "skipped through";
  page(false);
  width() = 3;  // as the panel's slider does
  settle();
  page(true);
  EXPECT_TRUE(ui.drew("As you predicted."));
  EXPECT_TRUE(ui.drew("It went from 0.50 to 3."));
  width() = 0.1;
  settle();
  EXPECT_TRUE(ui.drew("It went from 0.50 to 3.")) << "what was done was done";
  page(true);
  EXPECT_TRUE(ui.drew("Watson 1964"));
}

TEST_F(LessonWindow, ATabWithoutHelpHasNoEmptyTooltip) {
  begin();
  ui.move(*ui.find_text("Prediction"), draw);
  ui.frames(2, draw);
  const int vertices = ui.vertices();
  ui.frames(60, draw);
  EXPECT_EQ(ui.vertices(), vertices);
}

TEST_F(LessonWindow, AValueBeforeAPercentSignIsInPercent) {
  scope.a.run.config.training.label_smoothing = 0.254;
  EXPECT_EQ(filled(scope, "{field training.label_smoothing}: {field training.label_smoothing} % of it"),
            "0.25: 25 % of it");
  EXPECT_EQ(percent_text(Value("il")), "il");
}

TEST_F(LessonWindow, AWrongPredictionIsToldSo) {
  begin();
  page(true);
  ASSERT_TRUE(ui.click_text("Wide indeed", draw));
  page(true);
  ASSERT_TRUE(ui.click_text("Do it for me", draw));
  settle();
  page(true);
  EXPECT_TRUE(ui.drew("Not what you predicted."));
}

TEST_F(LessonWindow, IsLeftResumedAndRestarted) {
  width() = 7;
  const Layout before = scope.layout;
  begin();
  EXPECT_EQ(width(), 0.5);
  EXPECT_EQ(scope.layout.workspace, find_workspace("origins"));
  page(true);
  ASSERT_TRUE(ui.click_text("Narrow indeed", draw));
  ASSERT_TRUE(ui.click_text("Leave", draw));
  settle();
  EXPECT_EQ(scope.layout, before);
  EXPECT_EQ(width(), 7);
  EXPECT_FALSE(ui.drew("Narrow indeed"));
  EXPECT_TRUE(scope.undo.past.empty()) << "there is nothing to take back";
  begin();
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  EXPECT_EQ(lesson_progress(scope).guess.option, 0);
  width() = 2;
  ASSERT_TRUE(ui.click_text("Restart", draw));
  settle();
  EXPECT_EQ(width(), 0.5);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::question);
  EXPECT_FALSE(lesson_progress(scope).guess.made);
}

TEST_F(LessonWindow, WhatIsRememberedIsTheReadersOwn) {
  const Layout before = scope.layout;
  begin();
  ASSERT_NE(scope.layout.workspace, before.workspace);
  EXPECT_EQ(readers_layout(scope), before);
}

TEST_F(LessonWindow, AsksForTheRunThatItIsAbout) {
  scope.facts.shipped_run = "/shipped";
  begin_lesson(scope, 0);
  ASSERT_FALSE(scope.commands.empty());
  EXPECT_EQ(std::get<OpenRun>(scope.commands.back()).path, "/shipped");
  width() = 3;
  RunOpened shipped = fixture_run(20);
  shipped.run = 2;
  shipped.folder = "/shipped";
  shipped.before = OpenRun{.path = "/kept"};
  receive(scope, {shipped}, nullptr);
  settle();
  EXPECT_EQ(width(), 0.5) << "begun with it";
  leave_lesson(scope);
  ASSERT_FALSE(scope.commands.empty());
  EXPECT_EQ(std::get<OpenRun>(scope.commands.back()).path, "/kept");
  RunOpened back = fixture_run(20);
  back.run = 3;
  receive(scope, {back}, nullptr);
  settle();
  EXPECT_FALSE(scope.lessons.reader);
}

TEST_F(LessonWindow, GoesOnWithThePresentRunWhereItsOwnIsNotToBeHad) {
  scope.facts.shipped_run = "/shipped";
  begin_lesson(scope, 0);
  receive(scope, {Status{Activity::preparing, 0, ""}, Status{Activity::paused, 0, ""}}, nullptr);
  settle();
  EXPECT_TRUE(ui.drew("Is 0.50 wide?"));
  leave_lesson(scope);
  EXPECT_FALSE(scope.lessons.reader);
}

TEST_F(LessonWindow, TrainsARunOfItsOwnAndBringsTheReadersBack) {
  scope.facts.lessons[0].run = Config();
  scope.facts.lessons[0].run->training.steps = 7;
  scope.commands.clear();
  begin_lesson(scope, 0);
  ASSERT_TRUE(std::holds_alternative<Reset>(scope.commands.back()));
  EXPECT_EQ(std::get<Reset>(scope.commands.back()).config.training.steps, 7);
  RunOpened fresh = fixture_run();
  fresh.run = 2;
  fresh.config = *scope.facts.lessons[0].run;
  fresh.before = OpenRun{.path = "/kept"};
  receive(scope, {fresh, Status{Activity::paused, 0, ""}}, nullptr);
  settle();
  restart_lesson(scope);
  EXPECT_EQ(scope.lessons.run_wanted, 0U) << "it has learned nothing: it is still the one to begin with";
  scope.a.status.step = 5;
  restart_lesson(scope);
  EXPECT_EQ(scope.lessons.run_wanted, 2U) << "it has learned: another is wanted";
  scope.lessons.run_wanted = 0;
  leave_lesson(scope);
  EXPECT_EQ(std::get<OpenRun>(scope.commands.back()).path, "/kept");
}

TEST_F(LessonWindow, AStepChangesASettingAndTrains) {
  Lesson& lesson = scope.facts.lessons[0];
  lesson.steps[0].settings = {{.kind = Setting::Kind::change, .text = "model.d_model=32", .place = {}, .numbers = {}},
                              {.kind = Setting::Kind::reset, .text = "all", .place = {}, .numbers = {}},
                              {.kind = Setting::Kind::train, .text = "all", .place = {}, .numbers = {}}};
  lesson.steps[0].lit = {"setup"};
  begin_lesson(scope, 0);
  show_part(scope, LessonPart::touch);
  settle();
  EXPECT_TRUE(scope.layout.setup_open) << "the column that it speaks of";
  scope.commands.clear();
  do_step(scope, 0);
  ASSERT_GE(scope.commands.size(), 2U);
  const auto reset = std::ranges::find_if(
      scope.commands, [](const Command& command) { return std::holds_alternative<Reset>(command); });
  ASSERT_NE(reset, scope.commands.end());
  EXPECT_EQ(std::get<Reset>(*reset).config.model.d_model, 32);
  EXPECT_TRUE(std::holds_alternative<Train>(scope.commands.back()));
  lesson.steps[0].settings = {{.kind = Setting::Kind::train, .text = "all", .place = {}, .numbers = {}}};
  scope.a.status.step = scope.a.run.config.training.steps;
  scope.commands.clear();
  do_step(scope, 0);
  EXPECT_THAT(scope.commands, IsEmpty()) << "it is trained already";
}

TEST_F(LessonWindow, SpeaksFrench) {
  scope.translations.system = Language::french;
  begin_lesson(scope, 0);
  settle();
  EXPECT_TRUE(ui.drew("est large ?"));
  scope.layout.language = Language::english;
  settle();
  EXPECT_TRUE(ui.drew("Is 0.50 wide?"));
}

// In a page as narrow as can be a line ends at every blank that it may end at.
TEST_F(LessonWindow, NoFrenchLineBeginsWithASign) {
  scope.layout.language = Language::french;
  scope.facts.lessons[0].question.in(Language::french) = "Un mot : « deux » ; et trois ?";
  begin_lesson(scope, 0);
  settle();
  const Skin& skin = ui.skin;
  ui.panel([&] {
    ImGui::BeginChild("page", {skin.px(90), 0});
    draw_lesson_page(scope, skin);
    ImGui::EndChild();
  });
  const auto line_of = [&](const char* text) { return ui.find_text(text).value_or(ImVec2{-1, -1}).y; };
  for (const auto& [word, sign] : {std::pair{"mot", ":"}, {"«", "deux"}, {"deux", "»"}, {"»", ";"}, {"trois", "?"}})
    EXPECT_NEAR(line_of(word), line_of(sign), 6) << word << sign;
  EXPECT_GT(line_of("deux"), line_of("mot") + 10);
  EXPECT_GT(line_of("trois"), line_of("deux") + 10);
}

TEST_F(LessonWindow, IsFoundByThePalette) {
  const auto found = found_in(palette_entries(scope), "an example");
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().where, "Lesson");
  found.front().act(scope);
  EXPECT_TRUE(in_lesson(scope));
}

TEST_F(LessonWindow, AClickerWalksThroughItOnAProjector) {
  begin();
  scope.presentation = true;
  ui.key(Key::page_down, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  ui.key(Key::page_up, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::question);
  scope.commands.clear();
  ui.key(Key::space, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  EXPECT_THAT(scope.commands, testing::Not(Contains(testing::VariantWith<Train>(testing::_)))) << "as Space does else";
  ui.click({400, 400}, draw);  // Dear ImGui's keyboard navigation is active after a click
  ui.key(Key::left, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::question);
  ui.key(Key::right, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
}

TEST_F(LessonWindow, AClickersKeysDoNothingElse) {
  begin();
  scope.presentation = true;
  const std::string sentence = scope.layout.sentence;
  ui.frames(2, draw);
  ASSERT_TRUE(ui.click_text("Next", draw));
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  ui.key(Key::page_up, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::question);
  ui.key(Key::page_down, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  ui.key(Key::page_up, draw);
  ui.key(Key::space, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction) << "the button Back is not pressed, too";
  ui.frames(3, draw);
  ASSERT_TRUE(ui.click_text(sentence, draw));
  ASSERT_TRUE(ui.io().WantTextInput);
  ui.key(Key::page_up, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::question);
  ui.frames(2, draw);
  EXPECT_FALSE(ui.io().WantTextInput);
  ui.key(Key::space, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::prediction);
  EXPECT_EQ(scope.layout.sentence, sentence);
}

TEST_F(LessonWindow, AClickerPerformsEveryStepBeforeItLeavesThem) {
  begin();
  scope.presentation = true;
  show_part(scope, LessonPart::touch);
  const std::string sentence = scope.layout.sentence;
  ui.key(Key::page_down, draw);
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::touch) << "the first step is performed instead";
  EXPECT_EQ(scope.lessons.advanced, 0U);
  for (int press = 0; press < 20 && lesson_progress(scope).part == LessonPart::touch; ++press) {
    settle();
    ui.key(Key::page_down, draw);
  }
  EXPECT_EQ(lesson_progress(scope).part, LessonPart::check);
}

TEST_F(LessonWindow, EscapeLeavesThePresentationOnlyAtTheSecondPress) {
  begin();
  scope.presentation = true;
  ui.key(Key::escape, draw);
  EXPECT_TRUE(scope.presentation);
  EXPECT_TRUE(ui.drew("Press Escape again"));
  ui.key(Key::escape, draw);
  EXPECT_FALSE(scope.presentation);
  EXPECT_TRUE(in_lesson(scope));
  ui.frames(2, draw);
  EXPECT_FALSE(ui.drew("Press Escape again"));
}

TEST_F(LessonWindow, OneThatIsWrittenIsShownAgainWhenItIsSaved) {
  const std::string path = "/home/teacher/my-lesson.lesson";
  const auto save = [&](const std::string& text) {
    receive(scope, {FileRead{.path = path, .bytes = text, .error = {}}}, nullptr);
    settle();
  };
  const std::string text = lesson_template("my-lesson");
  EXPECT_THAT(read_lesson(text, "my-lesson.lesson").complaints, IsEmpty());
  preview_lesson(scope, path);
  ui.frame(draw);
  const auto asks = [&](const Command& command) {
    const auto* read = std::get_if<ReadFile>(&command);
    return read && read->path == path;
  };
  EXPECT_TRUE(std::ranges::any_of(scope.commands, asks));
  save(text);
  ASSERT_TRUE(in_lesson(scope));
  EXPECT_EQ(open_lesson(scope).name, "my-lesson");
  page(true);
  EXPECT_TRUE(ui.drew("What will the reader have to predict?"));

  std::string changed = text;
  changed.replace(changed.find("What will the reader"), 8, "Which word");
  save(changed);
  EXPECT_TRUE(ui.drew("Which word")) << "at the part that was shown";
  std::string wrong = changed;
  wrong.replace(wrong.find("kind: choose"), 12, "kind: guess");
  save(wrong);
  EXPECT_TRUE(ui.drew("my-lesson.lesson:")) << "the line is named";
  EXPECT_TRUE(ui.drew("Which word")) << "the last valid version stays";
  save(changed);
  EXPECT_FALSE(ui.drew("my-lesson.lesson:"));
  leave_lesson(scope);
  ui.frame(draw);
  EXPECT_FALSE(scope.lessons.file);
}

TEST_F(LessonWindow, EveryKindOfPredictionIsMade) {
  for (const char* kind : {"mark", "number", "order", "curve"}) {
    std::string text = with("kind: choose", std::string("kind: ") + kind +
                                                "\nvalue: kernel-width\nfrom: 0\nto: 4\nwithin: 0.5\n"
                                                "option.narrow.value: kernel-error 1\noption.narrow.at: 1\n"
                                                "option.wide.value: kernel-error 9\noption.wide.at: 9\n"
                                                "across.en: places\nacross.fr: lieux\nup.en: error\nup.fr: erreur");
    const LessonRead read = read_lesson(text, "x.lesson");
    ASSERT_THAT(read.complaints, IsEmpty());
    scope.facts.lessons[0] = read.lesson;
    begin_lesson(scope, 0);
    show_part(scope, LessonPart::prediction);
    settle();
    const std::string what = kind == std::string("mark")     ? "Mark a word"
                             : kind == std::string("number") ? "Set the number"
                             : kind == std::string("order")  ? "2. Wide indeed"
                                                             : "Draw with the mouse";
    const auto line = ui.find_text(what);
    ASSERT_TRUE(line) << kind;
    ui.click({line->x, line->y + (kind == std::string("order")   ? 0
                                  : kind == std::string("curve") ? 80.0F
                                                                 : 20.0F)},
             draw);
    EXPECT_TRUE(lesson_progress(scope).guess.made) << kind;
    ui.frame(draw);
    EXPECT_EQ(ui.drew("places") && ui.drew("error"), kind == std::string("curve")) << kind;
    restart_lesson(scope);
  }
}

TEST_F(LessonWindow, MessagesLeaveItsButtonsFree) {
  begin_lesson(scope, 0);
  settle();
  notify(scope, Severity::info, "a message");
  ui.frames(2, draw);
  const auto at = ui.find_text("a message");
  ASSERT_TRUE(at);
  EXPECT_LT(at->x, ui.io().DisplaySize.x / 2);
  ui.io().DisplaySize.x = 640;  // too narrow to stand side by side
  ui.frames(3, draw);
  ASSERT_TRUE(ui.drew("a message") && ui.drew("Back"));
  EXPECT_LT(ui.find_text("a message")->y, ui.find_text("Back")->y - ImGui::GetFrameHeight());
}

TEST_F(LessonWindow, AShareIsPredictedInPercent) {
  const LessonRead read =
      read_lesson(with("kind: choose", "kind: number\nvalue: kernel-width\nfrom: 0\nto: 1\nwithin: 0.1"), "x.lesson");
  ASSERT_THAT(read.complaints, IsEmpty());
  scope.facts.lessons[0] = read.lesson;
  begin_lesson(scope, 0);
  show_part(scope, LessonPart::prediction);
  settle();
  const auto slider = ui.find_text("50 %");
  ASSERT_TRUE(slider);
  ui.click({slider->x + 60, slider->y}, draw);
  const Expectation& guess = lesson_progress(scope).guess;
  EXPECT_GT(guess.number, 0.55);
  EXPECT_LT(guess.number, 1);
  EXPECT_EQ(guess_text(scope, read.lesson.prediction, guess), fmt::format("{:.0f} %", 100 * guess.number));
}

}  // namespace
}  // namespace attnscope
