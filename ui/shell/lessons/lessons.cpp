#include "shell/lessons/lessons.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "common/clamped.h"
#include "common/split.h"
#include "lessons/measures.h"
#include "shell/app_state.h"
#include "shell/overrides.h"
#include "shell/sentence.h"
#include "shell/timeline/timeline.h"
#include "shell/training.h"
#include "workspaces/attention/inside_cards.h"
#include "workspaces/attention/view.h"
#include "workspaces/embeddings/view.h"
#include "workspaces/flow/view.h"
#include "workspaces/origins/view.h"
#include "workspaces/positions/view.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

const Snapshot* settled_snapshot(const AppState& scope);

// ---- setting the state

void show(AppState& scope, const std::string& name) {
  const Workspace* of_view = show_view(scope.views, name);
  scope.layout.workspace = of_view ? of_view : find_workspace(name);
  scope.focus_workspace = true;
  // Results from earlier weights are computed again.
  LengthsView& lengths = scope.views.of<OriginsView>().lengths;
  if (lengths.run == scope.a.run.run && lengths.step != scope.a.status.step) lengths.asked_of = 0;
}

void choose_head(AppState& scope, const HeadPlace& place) {
  AttentionView& attention = scope.views.of<AttentionView>();
  attention.begun = true;
  select(attention, place);
  FlowView& flow = scope.views.of<FlowView>();
  flow.begun = false;  // initialized from attention's selection
}

void choose_word(AppState& scope, const std::string& word) {
  EmbeddingsView& view = scope.views.of<EmbeddingsView>();
  view.run = scope.a.run.run;
  view.begun = true;
  view.wanted.chosen = word;
  view.wanted.analogy = {"man", "king", "woman"};  // as the view begins
}

void choose_sense(AppState& scope, const std::string& word) {
  SensesView& view = scope.views.of<EmbeddingsView>().senses;
  view.word = view.typed = word;
}

void switch_off(AppState& scope, const HeadPlace& place) {
  std::vector<HeadPlace>& off = scope.views.of<AttentionView>().interventions.heads_off;
  if (std::ranges::find(off, place) == off.end()) off.push_back(place);
}

// For the head selected in Inside one head.
void lift_its_mask(AppState& scope) {
  const Snapshot* inspection = settled_snapshot(scope);
  if (inspection && inspection->inside) lift_mask(scope.views.of<AttentionView>(), *inspection->inside);
}

void set_warmup(AppState& scope, int warmup) {
  ScheduleView& view = scope.views.of<OriginsView>().schedule;
  if (!view.begun) take_run(view, scope.a.run.config);
  view.warmup = warmup;
}

// Edits the setup column; fields with a dot are pending until Reset there.
void change_field(AppState& scope, const std::string& text) {
  const auto [key, value] = halves(text, "=");
  set_field(scope.edited, key, value);  // already validated by the lesson's parser
  if (has_run(scope) && with_live_fields(scope.a.run.config, scope.edited) != scope.a.run.config) adjust(scope);
}

// Training past the last step would continue without end, which the lesson does not intend.
void train_to_the_end(AppState& scope) {
  const bool anew = std::ranges::any_of(scope.commands,
                                        [](const Command& command) { return std::holds_alternative<Reset>(command); });
  if (anew || scope.a.status.step < scope.a.run.config.training.steps) scope.commands.emplace_back(Train{});
}

void set(AppState& scope, const Setting& setting) {
  const auto number = [&](std::size_t i) { return static_cast<int>(setting.numbers[i]); };
  TurningView& turning = scope.views.of<PositionsView>().turning;
  switch (setting.kind) {
    case Setting::Kind::show:
      return show(scope, setting.text);
    case Setting::Kind::sentence:
      return set_sentence(scope, setting.text);
    case Setting::Kind::word:
      return choose_word(scope, setting.text);
    case Setting::Kind::sense:
      return choose_sense(scope, setting.text);
    case Setting::Kind::head:
      return choose_head(scope, setting.place);
    case Setting::Kind::query:
      scope.lessons.query = setting.text;
      return;
    case Setting::Kind::plain:
      return back_to_plain_model(scope);
    case Setting::Kind::off:
      return switch_off(scope, setting.place);
    case Setting::Kind::mask:
      return lift_its_mask(scope);
    case Setting::Kind::change:
      return change_field(scope, setting.text);
    case Setting::Kind::reset:
      return reset(scope);
    case Setting::Kind::train:
      return train_to_the_end(scope);
    case Setting::Kind::scores:
      scope.views.of<OriginsView>().scaling.d = number(0);
      return;
    case Setting::Kind::width:
      scope.views.of<OriginsView>().kernels.width = setting.numbers[0];
      return;
    case Setting::Kind::turn:
      turning.query = number(0);
      turning.key = number(1);
      return;
    case Setting::Kind::warmup:
      return set_warmup(scope, number(0));
  }
}

// Resets the panels, then applies what the lesson asks for.
void restart(AppState& scope) {
  LessonsView& lessons = scope.lessons;
  lessons.set = ++lessons.sets;
  lessons.query.clear();
  lessons.step.reset();
  scope.views = Views();
  show_present(scope);
  scope.comparing.side = DisplayedSide::a;
  scope.layout.setup_open = scope.layout.curves_open = false;
  for (const Setting& setting : open_lesson(scope).start) set(scope, setting);
  probe_sentence(scope);
}

// ---- the reader's state

ReadersState taken_state(AppState& scope) {
  return {.run = scope.a.run.run,
          .folder = scope.a.run.folder,
          .workspace = scope.layout.workspace,
          .density = scope.layout.density,
          .setup_open = scope.layout.setup_open,
          .curves_open = scope.layout.curves_open,
          .sentence = scope.layout.sentence,
          .reference = scope.reference,
          .edited = scope.edited,
          .views = std::move(scope.views),
          .past = scope.a.past,
          .undo = scope.undo};
}

// Assigns the undo steps of the reader's run to its new number.
void renumber(UndoHistory& undo, std::uint64_t from, std::uint64_t to) {
  for (std::vector<Chosen>* each : {&undo.past, &undo.future})
    for (Chosen& step : *each)
      if (step.run == from) step.run = to;
  if (undo.present) undo.present->run = to;
}

void take_layout(Layout& layout, const ReadersState& state) {
  layout.workspace = state.workspace;
  layout.density = state.density;
  layout.setup_open = state.setup_open;
  layout.curves_open = state.curves_open;
  layout.sentence = state.sentence;
}

void give_back(AppState& scope) {
  LessonsView& lessons = scope.lessons;
  ReadersState state = *std::exchange(lessons.reader, std::nullopt);
  lessons.returning = false;
  lessons.set = 0;
  take_layout(scope.layout, state);
  scope.reference = std::move(state.reference);
  scope.edited = std::move(state.edited);
  scope.views = std::move(state.views);
  if (state.run == scope.a.run.run) scope.a.past = std::move(state.past);
  renumber(state.undo, state.run, scope.a.run.run);
  state.undo.runs.merge(scope.undo.runs);
  state.undo.runs.erase(state.run);
  scope.undo = std::move(state.undo);
  scope.focus_workspace = true;
  probe_sentence(scope);
}

// ---- the run

// True if the lesson's initial run is open, unmodified: its own untrained one, or the one shipped with the program. A
// run that was trained further does not count.
bool has_lessons_run(const AppState& scope) {
  const bool untouched = scope.a.status.step == scope.a.run.step && scope.a.status.activity != Activity::training;
  if (open_lesson(scope).run) return untouched && scope.a.run.run == scope.lessons.own_run;
  if (scope.facts.shipped_run.empty()) return true;  // no shipped run is available
  return scope.a.run.folder == scope.facts.shipped_run && scope.a.status.step == scope.a.run.step;
}

void want_lessons_run(AppState& scope) {
  if (has_lessons_run(scope) || scope.lessons.run_wanted != 0) return;
  scope.lessons.run_wanted = scope.a.run.run;
  if (const std::optional<Config>& own = open_lesson(scope).run) {
    if (scope.b) scope.commands.emplace_back(EndComparison{});  // otherwise both would be reset
    scope.commands.emplace_back(Pause{});                       // otherwise the new run would start training
    scope.commands.emplace_back(Reset{*own});
  } else {
    scope.commands.emplace_back(OpenRun{.path = scope.facts.shipped_run});
  }
}

// Returns how to reopen the reader's run, as saved when the lesson's run replaced it; nullopt: no longer available.
std::optional<OpenRun> way_back(const AppState& scope) {
  const ReadersState& state = *scope.lessons.reader;
  const auto kept = scope.undo.runs.find(state.run);
  if (kept != scope.undo.runs.end()) return kept->second;
  return state.folder.empty() ? std::nullopt : std::optional(OpenRun{.path = state.folder});
}

// Continues the lesson, or the reader's work, with the run that is open now.
void go_on(AppState& scope) {
  LessonsView& lessons = scope.lessons;
  const bool came = scope.a.run.run != lessons.run_wanted;
  lessons.run_wanted = 0;
  if (lessons.returning) return give_back(scope);
  if (!lessons.lesson) return;
  lessons.own_run = came && open_lesson(scope).run ? scope.a.run.run : 0;
  restart(scope);
}

void settle_run(AppState& scope) {
  if (scope.lessons.run_wanted != 0 && scope.a.run.run != scope.lessons.run_wanted) go_on(scope);
}

// ---- what is on display

// The complete answer to the present probe.
const Snapshot* settled_snapshot(const AppState& scope) {
  const Snapshot* inspection = scope.a.complete.snapshot.get();
  if (!inspection || inspection->request != scope.asked.request || scope.lessons.run_wanted != 0) return nullptr;
  const bool decodes = scope.asked.decoding && !inspection->model.is_masked_lm();
  return decodes && !inspection->decodings ? nullptr : inspection;
}

LessonSight sight_of(const AppState& scope) {
  return {settled_snapshot(scope), scope.views, *scope.layout.workspace, scope.a.run.config, scope.a.curves};
}

void write_down(AppState& scope, const std::string& moment) {
  const LessonSight sight = sight_of(scope);
  std::map<std::string, Value>& values = lesson_progress(scope).moments[moment];
  for (const Expression& expression : scope.lessons.expressions)
    if (const auto value = measured(expression, sight)) values[expression_text(expression)] = *value;
}

bool is_marked(const AppState& scope, const std::string& moment) {
  return lesson_progress(scope).moments.contains(moment);
}

void choose_query(AppState& scope) {
  const Snapshot* inspection = settled_snapshot(scope);
  if (scope.lessons.query.empty() || !inspection) return;
  const std::string word = std::exchange(scope.lessons.query, "");
  AttentionView& attention = scope.views.of<AttentionView>();
  const int row = position_of(row_tokens(*inspection, attention.part), word);
  if (row < 0) return;
  attention.pinned_row = row;
  scope.views.of<FlowView>().token = row;
}

// Opens the view of a step, once. If opening it is the step's task, leaves that to the reader.
void bring_forward(AppState& scope, std::size_t step) {
  if (scope.lessons.step == step) return;
  scope.lessons.step = step;
  for (const std::string& anchor : open_lesson(scope).steps[step].lit) {
    scope.layout.setup_open |= anchor == "setup";
    scope.layout.curves_open |= anchor == "curves";
  }
  const auto is_show = [](const Setting& setting) { return setting.kind == Setting::Kind::show; };
  const std::vector<Setting>& settings = open_lesson(scope).steps[step].settings;
  if (std::ranges::all_of(settings, is_show)) return;
  for (const Setting& setting : settings)
    if (is_show(setting)) set(scope, setting);
}

bool compares(const Value& left, Relation relation, const Value& right) {
  if (left.index() != right.index()) return false;
  switch (relation) {
    case Relation::equal:
      return left == right;
    case Relation::different:
      return left != right;
    case Relation::less:
      return left < right;
    case Relation::greater:
      return left > right;
    case Relation::at_most:
      return left <= right;
    case Relation::at_least:
      return left >= right;
    case Relation::has:
      return left.index() == 1 && std::get<std::string>(left).find(std::get<std::string>(right)) != std::string::npos;
  }
  return false;
}

std::optional<double> number_of(const AppState& scope, const std::optional<Expression>& expression) {
  const auto value = expression ? value_of(scope, *expression) : std::nullopt;
  return value && value->index() == 0 ? std::optional(std::get<double>(*value)) : std::nullopt;
}

// ---- verdicts: the truth, and whether the prediction agrees

std::optional<Verdict> judge_choice(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  Verdict verdict;
  for (std::size_t i = 0; i < prediction.options.size(); ++i) {
    if (!holds(scope, prediction.options[i].right)) continue;
    if (verdict.truth.option >= 0) return {};  // two options cannot be right
    verdict.truth.option = static_cast<int>(i);
  }
  if (verdict.truth.option < 0) return {};
  verdict.right = guess.option == verdict.truth.option;
  return verdict;
}

std::optional<Verdict> judge_word(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  const auto value = value_of(scope, *prediction.value);
  if (!value || value->index() != 1) return {};
  Verdict verdict;
  verdict.truth.word = std::get<std::string>(*value);
  verdict.right = guess.word == verdict.truth.word;
  return verdict;
}

std::optional<Verdict> judge_number(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  const auto value = number_of(scope, prediction.value);
  if (!value) return {};
  Verdict verdict;
  verdict.truth.number = *value;
  verdict.right = std::abs(guess.number - *value) <= prediction.within;
  return verdict;
}

// One value per option; empty: one is not available.
std::vector<double> option_values(const AppState& scope, const Prediction& prediction) {
  std::vector<double> values;
  for (const Option& option : prediction.options)
    if (const auto value = number_of(scope, option.value)) values.push_back(*value);
  return values.size() == prediction.options.size() ? values : std::vector<double>();
}

std::optional<Verdict> judge_order(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  const std::vector<double> values = option_values(scope, prediction);
  if (values.empty()) return {};
  const auto value = [&](int option) { return values[static_cast<std::size_t>(option)]; };
  Verdict verdict;
  verdict.truth.order.resize(values.size());
  std::iota(verdict.truth.order.begin(), verdict.truth.order.end(), 0);
  std::ranges::stable_sort(verdict.truth.order, std::ranges::greater(), value);
  verdict.right =
      guess.order.size() == values.size() && std::ranges::is_sorted(guess.order, std::ranges::greater(), value);
  return verdict;
}

std::optional<Verdict> judge_curve(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  Verdict verdict;
  verdict.truth.curve = option_values(scope, prediction);
  if (verdict.truth.curve.empty()) return {};
  double sum = 0;
  for (std::size_t i = 0; i < verdict.truth.curve.size() && i < guess.curve.size(); ++i)
    sum += std::abs(verdict.truth.curve[i] - guess.curve[i]);
  verdict.right = guess.curve.size() == verdict.truth.curve.size() &&
                  sum / static_cast<double>(guess.curve.size()) <= prediction.within;
  return verdict;
}

}  // namespace

// ---- actions

void open_lessons(AppState& scope) {
  scope.lessons.open = true;
}

void begin_lesson(AppState& scope, std::size_t index) {
  LessonsView& lessons = scope.lessons;
  if (!has_run(scope) || lessons.returning) return;
  if (!lessons.reader) lessons.reader = taken_state(scope);
  lessons.open = true;
  if (lessons.lesson != index) lessons.own_run = 0;  // belongs to the previous lesson
  lessons.lesson = index;
  if (lessons.file && lessons.file->lesson != open_lesson(scope).name) lessons.file.reset();
  lessons.expressions = expressions_of(open_lesson(scope));
  restart(scope);
  want_lessons_run(scope);
}

void leave_lesson(AppState& scope) {
  LessonsView& lessons = scope.lessons;
  if (!lessons.lesson) {
    lessons.open = false;
    return;
  }
  lessons.lesson.reset();
  lessons.open = false;
  if (scope.a.run.run == lessons.reader->run && lessons.run_wanted == 0) return give_back(scope);
  const std::optional<OpenRun> back = way_back(scope);
  if (!back) return give_back(scope);
  lessons.returning = true;
  lessons.run_wanted = scope.a.run.run;
  scope.commands.emplace_back(*back);
}

void restart_lesson(AppState& scope) {
  if (!in_lesson(scope)) return;
  lesson_progress(scope) = {};
  restart(scope);
  want_lessons_run(scope);
}

void show_part(AppState& scope, LessonPart part) {
  if (in_lesson(scope)) lesson_progress(scope).part = part;
}

void move_part(AppState& scope, int by) {
  if (!in_lesson(scope)) return;
  const int part = static_cast<int>(lesson_progress(scope).part) + by;
  show_part(scope, static_cast<LessonPart>(clamped(part, 0, lesson_parts - 1)));
}

void advance_lesson(AppState& scope) {
  const std::size_t step = next_step(scope);
  const bool steps_left = lesson_progress(scope).part == LessonPart::touch && step < open_lesson(scope).steps.size();
  if (steps_left && scope.lessons.advanced != step) {
    scope.lessons.advanced = step;
    do_step(scope, step);
  } else {
    scope.lessons.advanced.reset();
    move_part(scope, 1);
  }
}

void do_step(AppState& scope, std::size_t step) {
  for (const Setting& setting : open_lesson(scope).steps[step].settings) set(scope, setting);
}

bool in_lesson(const AppState& scope) {
  return scope.lessons.lesson.has_value();
}

const Lesson& open_lesson(const AppState& scope) {
  return scope.facts.lessons[*scope.lessons.lesson];
}

LessonProgress& lesson_progress(AppState& scope) {
  return scope.lessons.progress[open_lesson(scope).name];
}

const LessonProgress& lesson_progress(const AppState& scope) {
  static const LessonProgress none;
  const auto found = scope.lessons.progress.find(open_lesson(scope).name);
  return found == scope.lessons.progress.end() ? none : found->second;
}

void give_up_run(AppState& scope) {
  if (scope.lessons.run_wanted != 0 && scope.a.run.run == scope.lessons.run_wanted) go_on(scope);
}

Layout readers_layout(const AppState& scope) {
  Layout layout = scope.layout;
  if (scope.lessons.reader) take_layout(layout, *scope.lessons.reader);
  return layout;
}

void settle_lesson(AppState& scope) {
  settle_run(scope);
  if (!in_lesson(scope) || scope.lessons.run_wanted != 0) return;
  choose_query(scope);
  if (!settled_snapshot(scope) || !scope.lessons.query.empty()) return;
  if (!is_marked(scope, "start")) write_down(scope, "start");
  const Lesson& lesson = open_lesson(scope);
  const std::size_t step = next_step(scope);
  if (lesson_progress(scope).part != LessonPart::touch || step == lesson.steps.size()) return;
  bring_forward(scope, step);
  if (holds(scope, lesson.steps[step].until)) write_down(scope, lesson.steps[step].name);
}

// ---- results

std::size_t next_step(const AppState& scope) {
  const std::vector<LessonStep>& steps = open_lesson(scope).steps;
  const auto open = std::ranges::find_if(steps, [&](const LessonStep& step) { return !is_marked(scope, step.name); });
  return static_cast<std::size_t>(open - steps.begin());
}

std::optional<Value> value_of(const AppState& scope, const Expression& expression) {
  if (expression.moment.empty() && scope.lessons.run_wanted != 0) return {};  // another run is still open
  if (expression.moment.empty()) return measured(expression, sight_of(scope));
  const auto& moments = lesson_progress(scope).moments;
  const auto moment = moments.find(expression.moment);
  if (moment == moments.end()) return {};
  const auto value = moment->second.find(expression_text(expression));
  return value == moment->second.end() ? std::nullopt : std::optional(value->second);
}

bool holds(const AppState& scope, const std::vector<Condition>& conditions) {
  return std::ranges::all_of(conditions, [&](const Condition& condition) {
    const auto left = value_of(scope, condition.left);
    const auto* expression = std::get_if<Expression>(&condition.right);
    const auto right = expression ? value_of(scope, *expression) : std::get<Value>(condition.right);
    return left && right && compares(*left, condition.relation, *right);
  });
}

namespace {

// French puts a space before some punctuation marks; makes it non-breaking so that none of them starts a line.
std::string with_signs_kept(std::string text) {
  constexpr std::string_view blank = "\u00A0";
  for (std::size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
    const std::string_view after = std::string_view(text).substr(at + 1);
    const bool before_sign = !after.empty() && std::string_view(":;?!%").find(after.front()) != std::string_view::npos;
    if (before_sign || after.starts_with("»") || std::string_view(text).substr(0, at).ends_with("«"))
      text.replace(at, 1, blank);
  }
  return text;
}

}  // namespace

std::string filled(const AppState& scope, const std::string& text) {
  std::string result;
  const std::vector<WordsPart> parts = parts_of(text);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    result += parts[i].text;
    if (!parts[i].value) continue;
    const auto value = value_of(scope, *parts[i].value);
    const bool as_percent = i + 1 < parts.size() && parts[i + 1].text.starts_with(" %");
    result += value ? (as_percent ? percent_text(*value) : value_text(*value)) : "…";
  }
  return result;
}

std::string in_language(const AppState& scope, const Words& words) {
  const Language language = language_of(scope);
  std::string text = filled(scope, words.in(language));
  return language == Language::french ? with_signs_kept(std::move(text)) : text;
}

std::optional<Verdict> verdict_of(const AppState& scope) {
  const Prediction& prediction = open_lesson(scope).prediction;
  const Expectation& guess = lesson_progress(scope).guess;
  if (next_step(scope) < open_lesson(scope).steps.size()) return {};
  switch (prediction.kind) {
    case PredictionKind::choose:
      return judge_choice(scope, prediction, guess);
    case PredictionKind::mark:
      return judge_word(scope, prediction, guess);
    case PredictionKind::number:
      return judge_number(scope, prediction, guess);
    case PredictionKind::order:
      return judge_order(scope, prediction, guess);
    case PredictionKind::curve:
      return judge_curve(scope, prediction, guess);
  }
  return {};
}

std::vector<std::string> lit_anchors(const AppState& scope) {
  if (!in_lesson(scope)) return {};
  const Lesson& lesson = open_lesson(scope);
  const std::size_t step = next_step(scope);
  const LessonPart part = lesson_progress(scope).part;
  if (part < LessonPart::touch) return lesson.lit;
  return part == LessonPart::touch && step < lesson.steps.size() ? lesson.steps[step].lit : std::vector<std::string>();
}

}  // namespace attnscope
