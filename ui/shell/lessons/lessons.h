// Lessons next to the window: the open lesson, the reader's progress in each, and the reader's own state before the
// lesson.
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

// The reader's prediction; which member is used depends on the lesson's kind of prediction.
struct Expectation {
  bool made = false;
  int option = -1;
  std::string word;
  double number = 0;
  std::vector<int> order;     // a permutation of all options
  std::vector<double> curve;  // one value per option
};

struct LessonProgress {
  LessonPart part = LessonPart::question;
  Expectation guess;
  std::map<std::string, std::map<std::string, Value>> moments;  // by name, then by expression_text
};

// The reader's state that a lesson replaces, saved to be restored.
struct ReadersState {
  std::uint64_t run = 0;
  std::string folder;  // of the run; empty: it has no folder
  const Workspace* workspace = nullptr;
  Density density = Density::everything;
  bool setup_open = true, curves_open = true;
  std::string sentence, reference;
  Config edited;
  Views views;
  Shown past;  // the recorded frame on display
  UndoHistory undo;
};

// The file of a lesson that is being written.
struct LessonFile {
  std::string path;
  double asked_at = -1e9;                 // ImGui::GetTime() when it was last asked for
  std::string lesson = {};                // name of the lesson in it, once it is shown
  std::optional<std::string> bytes = {};  // as last read and shown, or complained about
  std::vector<std::string> complaints;    // why it is not shown; the last valid version stays open
};

struct LessonsView {
  bool open = false;                               // shows the page, or the list of lessons
  std::optional<std::size_t> lesson;               // index into Facts::lessons; nullopt: the list
  std::map<std::string, LessonProgress> progress;  // keyed by the lesson's name
  std::optional<LessonFile> file;                  // followed by a preview; nullopt: none
  std::optional<ReadersState> reader;              // set while a lesson is open, and until the reader's run is restored
  bool returning = false;                          // to the reader's run
  std::uint64_t own_run = 0;                       // the run created for the lesson; 0: none
  std::uint64_t run_wanted = 0;                    // the run that was open when another was requested; 0: none was

  std::vector<Expression> expressions;  // the lesson's expressions
  std::string query;                    // selected once its token is known
  std::optional<std::size_t> step;      // the step whose view was opened last
  std::optional<std::size_t> advanced;  // the step that advance_lesson performed last, whose result may be pending
  std::uint64_t sets = 0;               // number of sets of views created so far
  std::uint64_t set = 0;                // the current set of views; 0: the reader's
};

// ---- actions

void open_lessons(AppState& scope);                     // opens the list, or the page that was open
void begin_lesson(AppState& scope, std::size_t index);  // continues at the part where it was left
void leave_lesson(AppState& scope);                     // restores the reader's state
void restart_lesson(AppState& scope);
void show_part(AppState& scope, LessonPart part);
void move_part(AppState& scope, int by);
void advance_lesson(AppState& scope);             // performs the next step of “Try it”, or shows the next part
void do_step(AppState& scope, std::size_t step);  // performs the step for the reader

bool in_lesson(const AppState& scope);
const Lesson& open_lesson(const AppState& scope);  // there must be one
LessonProgress& lesson_progress(AppState& scope);  // progress of the open lesson
const LessonProgress& lesson_progress(const AppState& scope);

// Handles that the requested run could not be opened: continues with the present one.
void give_up_run(AppState& scope);

// The layout to save between launches: the reader's own, not the lesson's.
Layout readers_layout(const AppState& scope);

// Checks whether a step was done; call once per frame, after everything was drawn.
void settle_lesson(AppState& scope);

// ---- results

// The first step that is not done; the number of steps if all are done.
std::size_t next_step(const AppState& scope);

std::optional<Value> value_of(const AppState& scope, const Expression& expression);
bool holds(const AppState& scope, const std::vector<Condition>& conditions);

// Replaces the expressions in a text by their values; "…" if not available yet.
std::string filled(const AppState& scope, const std::string& text);

// Same for text in the window's language, with punctuation kept off the starts of lines.
std::string in_language(const AppState& scope, const Words& words);

struct Verdict {
  bool right = false;
  Expectation truth;  // in the same form as the prediction
};
std::optional<Verdict> verdict_of(const AppState& scope);  // nullopt: not known yet

// The anchors highlighted in this frame.
std::vector<std::string> lit_anchors(const AppState& scope);

// ---- text in the lessons' language

const char* part_title(LessonPart part);

// The prediction or the truth in words; empty for a curve.
std::string guess_text(const AppState& scope, const Prediction& prediction, const Expectation& guess);

// "You predicted", "As you predicted.", "Not what you predicted.", "It is"
struct VerdictWords {
  const char* yours;
  const char* right;
  const char* wrong;
  const char* truth;
};
VerdictWords verdict_words();

// Draws at the cursor and fills the rest of the window.
void draw_lesson_page(AppState& scope, const Skin& skin);

}  // namespace attnscope
