// Experiments as data: reading their files, and beginning one from the gallery.
#include <gmock/gmock.h>

#include "lessons/experiment.h"
#include "shell/app_state.h"
#include "shell/experiments.h"
#include "shell/lessons/writing.h"
#include "shell/sentence.h"

namespace attnscope {
namespace {

using testing::HasSubstr;

constexpr const char* good = R"({
  "title": {"en": "Mine", "fr": "Le mien"}, "text": {"en": "See."}, "duration": {"en": "a minute"},
  "figure": "Somebody 2020", "preset": "induction-heads", "view": "induction",
  "set": {"training.steps": 7, "corpus.source": "./lines.txt", "model.dropout": 0.25, "tokenizer.type": "char"}})";

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string complaint(const std::string& json) {
  return read_experiment(json, "/home/me/mine/experiment.json").complaint;
}

TEST(Experiments, AreReadFromTheirFile) {
  const ExperimentRead read = read_experiment(good, "/home/me/mine/experiment.json");
  ASSERT_EQ(read.complaint, "");
  const Experiment& mine = read.experiment;
  EXPECT_EQ(mine.name, "mine");
  EXPECT_EQ(mine.title.in(Language::french), "Le mien");
  EXPECT_EQ(mine.text.in(Language::french), "See.") << "English stands in for a missing language";
  EXPECT_EQ(mine.config.training.steps, 7);
  EXPECT_EQ(mine.config.model.dropout, 0.25);
  EXPECT_EQ(mine.config.model.d_ff, 0) << "of the preset";
  EXPECT_EQ(mine.config.corpus.source, "/home/me/mine/lines.txt") << "next to the file";
}

TEST(Experiments, NameTheFieldThatIsWrong) {
  EXPECT_THAT(complaint("{"), HasSubstr("/home/me/mine/experiment.json"));
  EXPECT_THAT(complaint("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(complaint(with("\"title\"", "\"titel\"")), HasSubstr("\"titel\" is not a field, allowed: place, title"));
  EXPECT_THAT(complaint(with("\"title\": {\"en\": \"Mine\", \"fr\": \"Le mien\"},", "")), HasSubstr("\"title\""));
  EXPECT_THAT(complaint(with("{\"en\": \"See.\"}", "\"See.\"")), HasSubstr("\"text\""));
  EXPECT_THAT(complaint(with("\"en\": \"See.\"", "\"fr\": \"Voir.\"")), HasSubstr("\"en\""));
  EXPECT_THAT(complaint(with("\"view\": \"induction\"", "\"view\": \"nowhere\"")), HasSubstr("\"nowhere\""));
  EXPECT_THAT(complaint(with("\"induction-heads\"", "\"mine\"")), HasSubstr("\"mine\""));
  EXPECT_THAT(complaint(with("training.steps", "training.stepps")), HasSubstr("training.steps"));
  EXPECT_THAT(complaint(with(": 7,", ": -7,")), HasSubstr("training.steps is -7"));
  EXPECT_THAT(complaint(with(": 7,", ": [7],")), HasSubstr("training.steps"));
  EXPECT_THAT(complaint(with("\"set\": {", "\"set\": [{").append("]")), testing::Not(""));
  EXPECT_THAT(complaint(with("\"preset\"", "\"colour\": \"red\", \"preset\"")), HasSubstr("\"colour\" is not a field"));
}

TEST(Experiments, AnOpenedFolderJoinsTheGalleryOnce) {
  AppState scope;
  for (int i = 0; i < 2; ++i) {
    const FileRead read{.path = "/home/me/mine/experiment.json", .bytes = good, .error = ""};
    ASSERT_TRUE(is_experiment(read));
    receive_experiment(scope, read);
    EXPECT_EQ(scope.facts.experiments.size(), 1U);
    EXPECT_TRUE(scope.experiments.asked);
  }
  receive_experiment(scope, {.path = "/x/experiment.json", .bytes = "", .error = "gone"});
  EXPECT_THAT(scope.toasts.back().message.text, HasSubstr("gone"));
  EXPECT_EQ(scope.facts.experiments.size(), 1U);
}

TEST(Experiments, ALessonInItsFolderStartsWithItsConfiguration) {
  const std::string text = R"(lesson: mine
title.en: Mine
[question]
en: What?
[prediction]
kind: number
en: How many?
value: updates @ done
from: 0
to: 9
within: 1
[step done]
en: Train.
until: updates >= 1
train: all
[check]
en: {updates @ done}
[why]
en: So.
source: Me 2026
)";
  AppState scope;
  const std::string json = with("\"preset\"", "\"lesson\": \"mine\", \"preset\"");
  receive_experiment(scope, {.path = "/home/me/mine/experiment.json", .bytes = json, .error = ""});
  ASSERT_EQ(scope.commands.size(), 1U);
  EXPECT_EQ(std::get<ReadFile>(scope.commands[0]).path, "/home/me/mine/mine.lesson");
  receive(scope, {FileRead{.path = "/home/me/mine/mine.lesson", .bytes = text, .error = ""}}, nullptr);
  ASSERT_EQ(scope.facts.lessons.size(), 1U);
  EXPECT_EQ(scope.facts.lessons[0].run, scope.facts.experiments[0].config);
  receive(scope, {FileRead{.path = "/home/me/mine/mine.lesson", .bytes = "lesson", .error = ""}}, nullptr);
  EXPECT_THAT(scope.toasts.back().message.text, HasSubstr("/home/me/mine/mine.lesson:1"));
  receive(scope, {FileRead{.path = "/home/me/mine/mine.lesson", .bytes = "", .error = "gone"}}, nullptr);
  EXPECT_EQ(scope.toasts.back().message.text, "gone");
  EXPECT_EQ(scope.facts.lessons.size(), 1U);
}

TEST(Experiments, ALessonInItsFolderIsNotTheProgramsOfThatName) {
  AppState scope;
  scope.facts.lessons.emplace_back().name = "warm-up";
  const std::string json = with("\"preset\"", "\"lesson\": \"warm-up\", \"preset\"");
  const std::string path = "/home/me/mine/warm-up.lesson";
  for (int i = 0; i < 2; ++i) {
    receive_experiment(scope, {.path = "/home/me/mine/experiment.json", .bytes = json, .error = ""});
    receive_lesson_of_experiment(scope, {.path = path, .bytes = "", .error = "gone"});
    EXPECT_TRUE(scope.toasts.empty()) << "the program's is meant";
    EXPECT_EQ(scope.facts.experiments[0].lesson, "warm-up");
  }
  for (int i = 0; i < 2; ++i) {
    receive_experiment(scope, {.path = "/home/me/mine/experiment.json", .bytes = json, .error = ""});
    receive_lesson_of_experiment(scope, {.path = path, .bytes = lesson_template("warm-up"), .error = ""});
    EXPECT_EQ(scope.facts.experiments[0].lesson, "mine/warm-up");
    ASSERT_EQ(scope.facts.lessons.size(), 2U);
    EXPECT_EQ(scope.facts.lessons[1].name, "mine/warm-up");
  }
}

TEST(Experiments, BeginningOneResetsTrainsAndShowsItsView) {
  AppState scope;
  const Experiment mine = read_experiment(good, "/home/me/mine/experiment.json").experiment;
  begin_experiment(scope, mine);
  ASSERT_EQ(scope.commands.size(), 2U);
  EXPECT_EQ(std::get<Reset>(scope.commands[0]).config, mine.config);
  EXPECT_TRUE(std::holds_alternative<Train>(scope.commands[1]));
  EXPECT_EQ(scope.layout.workspace, find_workspace("mechanisms"));
}

}  // namespace
}  // namespace attnscope
