// Lessons beside the window: which is open, how far the reader is in each, and what was the reader's own before.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/shown.h"
#include "lessons/lesson.h"
#include "shell/layout.h"
#include "shell/undo.h"
#include "workspaces/workspace.h"

namespace attnscope {

struct AppState;

// What the reader expects; of the kind that the lesson asks for.
struct Expectation {
  bool made = false;
  int option = -1;
  std::string word;
  double number = 0;
  std::vector<int> order;     // of all options
  std::vector<double> curve;  // a value an option
};

struct LessonProgress {
  LessonPart part = LessonPart::question;
  Expectation guess;
  std::map<std::string, std::map<std::string, Value>> moments;  // by name; by expression_text
};

// What a lesson changes for its own purposes, as it was before.
struct ReadersState {
  std::uint64_t run = 0;
  std::string folder;  // of the run; empty: it came from none
  const Workspace* workspace = nullptr;
  Density density = Density::everything;
  bool setup_open = true, curves_open = true;
  std::string sentence, reference;
  Config edited;
  Views views;
  Shown past;  // the recorded frame that was shown
  UndoHistory undo;
};

struct LessonsView {
  bool open = false;                               // the page, or the list of lessons
  std::optional<std::size_t> lesson;               // of Facts::lessons; none: the list
  std::map<std::string, LessonProgress> progress;  // by the lesson's name
  std::optional<ReadersState> reader;              // while a lesson is open, and until the reader's run is back
  bool returning = false;                          // to that run
  std::uint64_t own_run = 0;                       // that was made for the lesson; 0: it has none
  std::uint64_t run_wanted = 0;                    // the run that was open when another was asked for; 0: none was

  std::vector<Expression> expressions;  // of the lesson
  std::string query;                    // to be chosen once its piece is known
  std::optional<std::size_t> step;      // that was brought forward last
  std::uint64_t sets = 0;               // of views begun so far
  std::uint64_t set = 0;                // the present one; 0: the reader's
};

// ---- what can be done

void open_lessons(AppState& scope);                     // the list, or the page that was open
void begin_lesson(AppState& scope, std::size_t index);  // at the part where it was left
void leave_lesson(AppState& scope);                     // gives the reader's own state back
void restart_lesson(AppState& scope);
void show_part(AppState& scope, LessonPart part);
void move_part(AppState& scope, int by);
void do_step(AppState& scope, std::size_t step);  // for a reader who asks

bool in_lesson(const AppState& scope);
const Lesson& open_lesson(const AppState& scope);  // there must be one
LessonProgress& lesson_progress(AppState& scope);  // of it
const LessonProgress& lesson_progress(const AppState& scope);

// The run that was asked for did not come: what was to be done is done with the present one.
void give_up_run(AppState& scope);

// What is to be remembered from launch to launch: the reader's own, not the lesson's.
Layout readers_layout(const AppState& scope);

// Looks whether a step was done, once a frame after everything was drawn.
void settle_lesson(AppState& scope);

// ---- what came of it

// The first step that is not done; as many as there are: all are.
std::size_t next_step(const AppState& scope);

std::optional<Value> value_of(const AppState& scope, const Expression& expression);
bool holds(const AppState& scope, const std::vector<Condition>& conditions);

// With its expressions computed; those that are not to be had yet as "…".
std::string filled(const AppState& scope, const std::string& text);

// The same of the words in the window's language, its signs kept from the beginnings of lines.
std::string in_language(const AppState& scope, const Words& words);

struct Verdict {
  bool right = false;
  Expectation truth;  // in the terms of the prediction
};
std::optional<Verdict> verdict_of(const AppState& scope);  // none: not to be told yet

// What is lit in this frame: anchors.
std::vector<std::string> lit_anchors(const AppState& scope);

// ---- in the language of the lessons

const char* part_title(const AppState& scope, LessonPart part);

// What was predicted, or is true, in words; empty of a curve.
std::string guess_text(const AppState& scope, const Prediction& prediction, const Expectation& guess);

// "You predicted", "As you predicted.", "Not as you predicted.", "It is"
struct VerdictWords {
  const char* yours;
  const char* right;
  const char* wrong;
  const char* truth;
};
VerdictWords verdict_words(const AppState& scope);

// At the cursor, filling what is left of the window.
void draw_lesson_page(AppState& scope, const Skin& skin);

}  // namespace attnscope
