// Every lesson that ships, on the run that ships and on one that has learned nothing, played to its end with injected
// events: as predicted and otherwise. What a lesson trains is trained for some updates; ATTNSCOPE_WHOLE_LESSONS=1: for
// all.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "commands/desktop/machine.h"
#include "session/session.h"
#include "shell/actions.h"
#include "shell/lessons/lessons.h"
#include "shell/panels.h"
#include "shell/sentence.h"
#include "ui_harness.h"
#include "workspaces/attention/view.h"

namespace attnscope {
namespace {

constexpr auto patience = std::chrono::minutes(2);  // only ever spent by a test that fails

class LessonsOnTheShippedRun : public testing::Test {
 protected:
  LessonsOnTheShippedRun() {
    scope.facts = machine_facts();
    if (!std::getenv("ATTNSCOPE_WHOLE_LESSONS")) shorten_training();
    scope.translations.system = Language::english;
    session->post(OpenRun{scope.facts.shipped_run});
    until_answered();
  }

  void shorten_training() {
    for (Lesson& lesson : scope.facts.lessons) {
      if (!lesson.run) continue;
      lesson.run->training.steps = 12;
      lesson.run->model.d_model = 16;
      lesson.run->training.validation_interval = 6;
    }
  }

  ~LessonsOnTheShippedRun() override {
    session.reset();
    std::filesystem::remove_all(kept);
  }

  // Frames and the worker's answers, until all that was asked for is there.
  void until_answered() {
    const auto end = std::chrono::steady_clock::now() + patience;
    for (int quiet = 0; quiet < 4 && std::chrono::steady_clock::now() < end;) {
      ui.frame(draw);
      post_commands(scope, *session);
      Session::News news = session->poll();
      receive(scope, std::move(news.events), std::move(news.snapshot_a), std::move(news.snapshot_b));
      post_commands(scope, *session);
      quiet = is_answered() ? quiet + 1 : 0;
      if (quiet == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    EXPECT_TRUE(is_answered());
  }

  bool is_answered() const {
    const Snapshot* inspection = scope.a.complete.snapshot.get();
    const Activity activity = scope.a.status.activity;
    return has_run(scope) && !scope.a.run.corpus_follows && inspection && inspection->request == scope.asked.request &&
           !scope.study && activity != Activity::training && activity != Activity::preparing &&
           inspection->step == scope.a.status.step && (!scope.asked.decoding || inspection->decodings || inspection->model.is_masked_lm()) &&
           scope.lessons.run_wanted == 0;
  }

  void click(const std::string& text) {
    EXPECT_TRUE(ui.click_text(text, draw)) << text;
    until_answered();
  }

  void next() {
    ui.key(Key::page_down, draw, {.shift = true});
    until_answered();
  }

  const Lesson& lesson() const { return open_lesson(scope); }

  // Those that can be done with this model.
  void try_all_steps() {
    for (int frames = 0; next_step(scope) < lesson().steps.size() && frames < 12; ++frames) {
      const std::size_t step = next_step(scope);
      const bool pressed = ui.drew("Do it for me") && ui.click_text("Do it for me", draw);
      until_answered();
      // The worker may not have said yet that it trains.
      const auto end = std::chrono::steady_clock::now() + patience;
      while (pressed && lesson().run && next_step(scope) == step && std::chrono::steady_clock::now() < end)
        until_answered();
    }
  }

  // Performs all steps with the page's own button.
  void do_all_steps() {
    try_all_steps();
    EXPECT_EQ(next_step(scope), lesson().steps.size()) << lesson().name;
  }

  // To the check, with that prediction; none: without one.
  std::optional<Verdict> play(const Expectation* expectation) {
    restart_lesson(scope);
    until_answered();
    next();
    if (expectation) predict(*expectation);
    next();
    EXPECT_FALSE(verdict_of(scope)) << lesson().name << ": nothing was done yet";
    do_all_steps();
    next();
    const auto verdict = verdict_of(scope);
    EXPECT_TRUE(verdict) << lesson().name;
    if (expectation && verdict) {
      EXPECT_EQ(ui.drew("As you predicted."), verdict->right) << lesson().name;
      EXPECT_EQ(ui.drew("Not what you predicted."), !verdict->right) << lesson().name;
    }
    for (const Language language : {Language::english, Language::french, Language::spanish, Language::chinese})
      EXPECT_EQ(filled(scope, lesson().found.in(language)).find("…"), std::string::npos) << lesson().name;
    next();
    EXPECT_EQ(lesson_progress(scope).part, LessonPart::why);
    return verdict;
  }

  // A choice and a word by a click; what is dragged is put there.
  void predict(const Expectation& expectation) {
    Expectation& made = lesson_progress(scope).guess;
    if (lesson().prediction.kind == PredictionKind::choose) {
      const Option& option = lesson().prediction.options[static_cast<std::size_t>(expectation.option)];
      const std::string text = filled(scope, option.text.in(Language::english));
      click(as_drawn(text).substr(0, 40));
      EXPECT_EQ(made.option, expectation.option) << lesson().name;
    } else {
      made = expectation;
    }
    made.made = true;
  }

  // The built-in font has nothing but ASCII.
  static std::string as_drawn(const std::string& text) {
    std::string drawn;
    for (const char c : text) {
      if ((c & 0xC0) == 0x80) continue;  // goes on with a character
      drawn += (c & 0x80) ? '?' : c;
    }
    return drawn;
  }

  // Another prediction than that.
  Expectation other_than(Expectation truth) const {
    const Prediction& prediction = lesson().prediction;
    truth.option = (truth.option + 1) % std::max(1, static_cast<int>(prediction.options.size()));
    truth.word = "because";
    truth.number += 2 * prediction.within;
    if (truth.order.size() > 1) std::ranges::reverse(truth.order);
    for (double& value : truth.curve) value += 2 * prediction.within;
    return truth;
  }

  const std::filesystem::path kept =
      std::filesystem::temp_directory_path() / ("attnscope-lessons-" + std::to_string(::getpid()));
  AppState scope;
  UiHarness ui{{1600, 1000}};
  std::unique_ptr<Session> session = std::make_unique<Session>([this] { return make_window_engine(kept); });
  UiHarness::Draw draw = [this] { draw_shell(scope, ui.textures, ui.skin); };
};

TEST_F(LessonsOnTheShippedRun, AreAllReadWithoutComplaint) {
  EXPECT_THAT(scope.facts.complaints, testing::IsEmpty());
  EXPECT_GE(scope.facts.lessons.size(), 29U);
}

TEST_F(LessonsOnTheShippedRun, EveryCheckTellsTheRightPredictionFromAWrongOne) {
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    begin_lesson(scope, i);
    until_answered();
    const auto first = play(nullptr);
    ASSERT_TRUE(first) << lesson().name;
    const auto right = play(&first->truth);
    ASSERT_TRUE(right) << lesson().name;
    EXPECT_TRUE(right->right) << lesson().name;
    const Expectation wrong = other_than(first->truth);
    const auto otherwise = play(&wrong);
    ASSERT_TRUE(otherwise) << lesson().name;
    EXPECT_FALSE(otherwise->right) << lesson().name;
  }
}

// A check says what there is to be said, and no more.
TEST_F(LessonsOnTheShippedRun, ArePlayedOnAModelThatHasLearnedNothing) {
  Config config = scope.a.run.config;  // whose corpus and tokenizer stay
  config.model.d_model = config.model.d_ff = 16;
  config.model.num_heads = 2;
  config.model.num_encoder_layers = config.model.num_decoder_layers = 2;
  const std::uint64_t before = scope.a.run.run;
  session->post(Reset{config});
  while (scope.a.run.run == before) until_answered();
  scope.facts.shipped_run = (kept / "fresh").string();
  session->post(SaveRun{scope.facts.shipped_run});
  session->post(OpenRun{scope.facts.shipped_run});
  while (scope.a.run.folder != scope.facts.shipped_run) until_answered();
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    begin_lesson(scope, i);
    until_answered();
    SCOPED_TRACE(lesson().name);
    EXPECT_EQ(scope.a.status.step, 0);
    show_part(scope, LessonPart::touch);
    try_all_steps();
    for (int part = 0; part < lesson_parts; ++part) {
      show_part(scope, static_cast<LessonPart>(part));
      until_answered();
    }
    const auto verdict = verdict_of(scope);
    if (!verdict) continue;
    lesson_progress(scope).guess = verdict->truth;
    EXPECT_TRUE(verdict_of(scope)->right) << lesson().name;
    lesson_progress(scope).guess = other_than(verdict->truth);
    EXPECT_FALSE(verdict_of(scope)->right) << lesson().name;
  }
}

TEST_F(LessonsOnTheShippedRun, TheReadersStateIsGivenBack) {
  scope.layout.sentence = "The dog ate the apple because it was hungry.";
  scope.views.of<AttentionView>().interventions.heads_off.push_back({AttentionPart::encoder, 0, 1});
  until_answered();
  const Layout layout = scope.layout;
  const Interventions interventions = scope.views.of<AttentionView>().interventions;
  const std::size_t undo_steps = scope.undo.past.size();
  const std::string output = scope.a.complete.snapshot->output_text;
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    begin_lesson(scope, i);
    until_answered();
    EXPECT_TRUE(scope.a.complete.snapshot->interventions.empty());
    show_part(scope, LessonPart::touch);
    do_all_steps();
  }
  ui.key(Key::f1, draw, {.ctrl = true});
  until_answered();
  EXPECT_FALSE(scope.lessons.open);
  EXPECT_EQ(scope.layout, layout);
  EXPECT_EQ(scope.views.of<AttentionView>().interventions, interventions);
  EXPECT_EQ(scope.undo.past.size(), undo_steps);
  EXPECT_EQ(scope.a.complete.snapshot->output_text, output);
}

// Without training, the next lesson does not continue the run of the last one.
TEST_F(LessonsOnTheShippedRun, EachThatTrainsHasARunOfItsOwn) {
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    if (!scope.facts.lessons[i].run) continue;
    begin_lesson(scope, i);
    until_answered();
    EXPECT_EQ(scope.a.run.config.corpus.source, lesson().run->corpus.source) << lesson().name;
  }
}

TEST_F(LessonsOnTheShippedRun, ARunOfTheReadersOwnIsBroughtBack) {
  const std::uint64_t shipped = scope.a.run.run;
  session->post(Step{});
  const auto end = std::chrono::steady_clock::now() + patience;
  while (scope.a.status.step == scope.a.run.step && std::chrono::steady_clock::now() < end) until_answered();
  const std::int64_t step = scope.a.status.step;
  ASSERT_GT(step, scope.a.run.step);
  begin_lesson(scope, 0);
  until_answered();
  EXPECT_NE(scope.a.run.run, shipped);
  EXPECT_LT(scope.a.status.step, step) << "the run as it ships";
  leave_lesson(scope);
  until_answered();
  EXPECT_FALSE(scope.lessons.reader);
  EXPECT_EQ(scope.a.status.step, step);
}

}  // namespace
}  // namespace attnscope
