// The page of a lesson next to the window, and the list of all lessons.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "analysis/attention_measures.h"
#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "lessons/curve_figure.h"
#include "shell/app_state.h"
#include "shell/lessons/lessons.h"
#include "widgets/number_field.h"
#include "widgets/row.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

void paragraph(const AppState& scope, const Words& words, const Skin& skin) {
  wrapped_text(skin.theme.text, in_language(scope, words));
  ImGui::Spacing();
}

// ---- the prediction

std::string option_text(const AppState& scope, const Prediction& prediction, int option) {
  return in_language(scope, prediction.options[static_cast<std::size_t>(option)].text);
}

// An option that may wrap over several lines; returns true if clicked.
bool draw_line(const std::string& text, bool chosen, const Skin& skin) {
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float left = skin.px(10);
  const auto lines = wrapped_lines(skin.fonts.ui, text, width - left * 2);
  const float line = ImGui::GetTextLineHeight();
  const ImVec2 size{width, line * static_cast<float>(lines.size()) + skin.px(8)};
  const bool clicked = ImGui::Selectable("##line", chosen, ImGuiSelectableFlags_DontClosePopups, size);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 low{corner.x + skin.px(1), corner.y}, high{corner.x + size.x - skin.px(1), corner.y + size.y};
  const Color32 color = chosen ? skin.theme.accent : skin.theme.border;
  list.AddRect(low, high, color, skin.px(3), 0, skin.px(chosen ? 2.0F : 1.0F));
  float y = corner.y + skin.px(4);
  for (const std::string_view each : lines) {
    draw_text(list, skin.fonts.ui, {corner.x + left, y}, skin.theme.text, each.data(), each.data() + each.size());
    y += line;
  }
  ImGui::Spacing();
  return clicked;
}

void draw_options(const AppState& scope, const Prediction& prediction, Expectation& guess, const Skin& skin) {
  small_text(skin.theme.text_dim, tr("Choose one."), skin);
  for (int i = 0; i < static_cast<int>(prediction.options.size()); ++i) {
    ImGui::PushID(i);
    if (draw_line(option_text(scope, prediction, i), guess.option == i, skin)) {
      guess.option = i;
      guess.made = true;
    }
    ImGui::PopID();
  }
}

void draw_order(const AppState& scope, const Prediction& prediction, Expectation& guess, const Skin& skin) {
  small_text(skin.theme.text_dim, tr("Put the largest first. Click a line to move it up."), skin);
  if (guess.order.size() != prediction.options.size()) {
    guess.order.resize(prediction.options.size());
    std::iota(guess.order.begin(), guess.order.end(), 0);
  }
  for (std::size_t i = 0; i < guess.order.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const std::string text = fmt::format("{}. {}", i + 1, option_text(scope, prediction, guess.order[i]));
    if (draw_line(text, false, skin)) {
      if (i > 0) std::swap(guess.order[i], guess.order[i - 1]);
      guess.made = true;
    }
    ImGui::PopID();
  }
}

// A number from 0 to 1 is a share; like the texts of lessons it is shown in percent.
bool is_share(const Prediction& prediction) {
  return prediction.from == 0 && prediction.to == 1;
}

void draw_number(const Prediction& prediction, Expectation& guess, const Skin& skin) {
  small_text(skin.theme.text_dim, tr("Set the number."), skin);
  if (!guess.made) guess.number = (prediction.from + prediction.to) / 2;
  const double unit = is_share(prediction) ? 0.01 : 1;
  double shown = guess.number / unit;
  ImGui::SetNextItemWidth(-1);
  if (!number_slider("##number", shown, prediction.from / unit, prediction.to / unit,
                     is_share(prediction) ? "%.0f %%" : "%.2f", ImGuiSliderFlags_AlwaysClamp, skin))
    return;
  guess.number = shown * unit;
  guess.made = true;
}

void draw_words(const AppState& scope, Expectation& guess, const Skin& skin) {
  small_text(skin.theme.text_dim, tr("Mark a word."), skin);
  const Snapshot* inspection = scope.a.newest.snapshot.get();
  if (!inspection) return;
  int id = 0;
  for (const WordSpan& word : words_of({inspection->typed().begin(), inspection->typed().end()})) {
    ImGui::PushID(id++);
    if (draw_choice(word.text.c_str(), guess.word == word.text, "", skin)) {
      guess.word = word.text;
      guess.made = true;
    }
    ImGui::PopID();
  }
  end_choices();
}

ImVec2 on_screen(FigurePoint point) {
  return {static_cast<float>(point.x), static_cast<float>(point.y)};
}

// Distinguishable without color: dots for the prediction, squares for the truth.
void draw_mark(ImVec2 at, bool is_truth, Color32 color, const Skin& skin) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float half = skin.px(4);
  if (is_truth)
    list.AddRectFilled({at.x - half, at.y - half}, {at.x + half, at.y + half}, color);
  else
    list.AddCircleFilled(at, half, color);
}

void draw_line_of(const CurveFigure& figure, const std::vector<double>& curve, bool is_truth, const Skin& skin) {
  const Color32 color = is_truth ? skin.theme.warning : skin.theme.accent;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const ImVec2 at = on_screen(figure.at(i, curve[i]));
    draw_mark(at, is_truth, color, skin);
    if (i > 0) list.AddLine(on_screen(figure.at(i - 1, curve[i - 1])), at, color, skin.px(2));
  }
}

constexpr float below_plot = 34;  // height of the horizontal axis

// Draws the prediction and, once it is known, the truth, between labeled axes.
CurveFigure draw_plot_of(const AppState& scope, const Prediction& prediction, const Expectation& guess,
                         const Expectation* truth, const Skin& skin) {
  small_text(skin.theme.text_dim, in_language(scope, prediction.up), skin);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const ImVec2 size{ImGui::GetContentRegionAvail().x, skin.px(150)};
  const CurveFigure figure{{corner.x, corner.y}, {corner.x + size.x, corner.y + size.y}, prediction};
  ImGui::InvisibleButton("##curve", size);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRect(on_screen(figure.low), on_screen(figure.high), skin.theme.border);
  const auto label = [&](FigurePoint middle, const std::string& text) {
    const float half = text_size(skin.fonts.small, text).x / 2;
    draw_text(list, skin.fonts.small, {static_cast<float>(middle.x) - half, static_cast<float>(middle.y)},
              skin.theme.text_dim, text.c_str());
  };
  for (const FigureTick& tick : figure.values(skin.px(10))) {
    const bool at_top = tick.at.y < (figure.low.y + figure.high.y) / 2;
    label({tick.at.x, tick.at.y + (at_top ? skin.px(2) : -skin.px(16))}, tick.text);
  }
  for (const FigureTick& tick : figure.places(skin.px(2))) label(tick.at, tick.text);
  label({(figure.low.x + figure.high.x) / 2, figure.high.y + skin.px(17)}, in_language(scope, prediction.across));
  if (truth) draw_line_of(figure, truth->curve, true, skin);
  draw_line_of(figure, guess.curve, false, skin);
  return figure;
}

// Legend entry of a curve, with its marker.
void draw_curve_key(bool is_truth, const Skin& skin) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const Color32 color = is_truth ? skin.theme.warning : skin.theme.accent;
  draw_mark({corner.x + skin.px(5), corner.y + ImGui::GetTextLineHeight() / 2}, is_truth, color, skin);
  ImGui::Indent(skin.px(14));
  small_text(color, is_truth ? tr("The answer") : tr("You predicted"), skin);
  ImGui::Unindent(skin.px(14));
}

void draw_curve(const AppState& scope, const Prediction& prediction, Expectation& guess, const Skin& skin) {
  small_text(skin.theme.text_dim, tr("Draw with the mouse, from left to right."), skin);
  ImGui::Spacing();  // the name of an axis follows
  if (guess.curve.empty()) guess.curve.assign(prediction.options.size(), (prediction.from + prediction.to) / 2);
  const CurveFigure figure = draw_plot_of(scope, prediction, guess, nullptr, skin);
  if (ImGui::IsItemActive()) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    guess.curve[figure.index(mouse.x)] = figure.value(mouse.y);
    guess.made = true;
  }
  ImGui::Dummy({1, skin.px(below_plot)});
}

void draw_kept_guess(const AppState& scope, const Lesson& lesson, const Expectation& guess, const Skin& skin) {
  if (!guess.made) return small_text(skin.theme.text_dim, tr("You made no prediction."), skin);
  if (lesson.prediction.kind == PredictionKind::curve) return draw_curve_key(false, skin);
  small_text(skin.theme.text_dim, tr("You predicted"), skin);
  const std::string text = guess_text(scope, lesson.prediction, guess);
  if (text.empty()) return;
  wrapped_text(skin.theme.accent, text);
}

void draw_prediction(const AppState& scope, const Lesson& lesson, Expectation& guess, const Skin& skin) {
  paragraph(scope, lesson.prediction.text, skin);
  switch (lesson.prediction.kind) {
    case PredictionKind::choose:
      return draw_options(scope, lesson.prediction, guess, skin);
    case PredictionKind::mark:
      return draw_words(scope, guess, skin);
    case PredictionKind::number:
      return draw_number(lesson.prediction, guess, skin);
    case PredictionKind::order:
      return draw_order(scope, lesson.prediction, guess, skin);
    case PredictionKind::curve:
      return draw_curve(scope, lesson.prediction, guess, skin);
  }
}

// ---- try it, check, why

void draw_steps(AppState& scope, const Lesson& lesson, const Skin& skin) {
  const std::size_t next = next_step(scope);
  for (std::size_t i = 0; i < lesson.steps.size() && i <= next; ++i) {
    const LessonStep& step = lesson.steps[i];
    if (i < next) {
      wrapped_text(skin.theme.text_dim, fmt::format("✓ {}", in_language(scope, step.text)));
    } else {
      paragraph(scope, step.text, skin);
      if (!step.settings.empty() && ImGui::Button(tr("Do it for me"))) do_step(scope, i);
    }
    ImGui::Spacing();
  }
}

void draw_touch(AppState& scope, const Lesson& lesson, const Skin& skin) {
  draw_kept_guess(scope, lesson, lesson_progress(scope).guess, skin);
  ImGui::Separator();
  draw_steps(scope, lesson, skin);
}

void draw_check(AppState& scope, const Lesson& lesson, const Skin& skin) {
  const Expectation& guess = lesson_progress(scope).guess;
  if (next_step(scope) < lesson.steps.size()) {
    small_text(skin.theme.warning, tr("Complete this step first:"), skin);
    return paragraph(scope, lesson.steps[next_step(scope)].text, skin);
  }
  draw_kept_guess(scope, lesson, guess, skin);
  ImGui::Separator();
  const std::optional<Verdict> verdict = verdict_of(scope);
  if (!verdict) return wrapped_text(skin.theme.warning, tr("The model gives no clear answer here."));
  if (guess.made) {
    const Color32 color = verdict->right ? skin.theme.success : skin.theme.warning;
    const WithFont bold(skin.fonts.bold);
    wrapped_text(color, verdict->right ? tr("As you predicted.") : tr("Not what you predicted."));
  }
  if (lesson.prediction.kind == PredictionKind::curve) {
    draw_curve_key(true, skin);
    draw_plot_of(scope, lesson.prediction, guess, &verdict->truth, skin);
    ImGui::Dummy({1, skin.px(below_plot)});
  } else if (!guess.made || !verdict->right || lesson.prediction.kind == PredictionKind::number) {
    small_text(skin.theme.text_dim, tr("The answer"), skin);
    wrapped_text(skin.theme.text, guess_text(scope, lesson.prediction, verdict->truth));
  }
  ImGui::Spacing();
  paragraph(scope, lesson.found, skin);
}

void draw_why(const AppState& scope, const Lesson& lesson, const Skin& skin) {
  paragraph(scope, lesson.why, skin);
  if (!lesson.formula.empty()) {
    const WithFont mono(skin.fonts.mono);
    wrapped_text(skin.theme.accent, lesson.formula);
  }
  ImGui::Spacing();
  small_text(skin.theme.text_dim, lesson.source, skin);
}

// ---- the page

void draw_parts(AppState& scope, const Skin& skin) {
  for (int i = 0; i < lesson_parts; ++i) {
    const auto part = static_cast<LessonPart>(i);
    if (draw_choice(part_title(part), lesson_progress(scope).part == part, "", skin)) show_part(scope, part);
  }
  end_choices();
}

void draw_body(AppState& scope, const Lesson& lesson, const Skin& skin) {
  switch (lesson_progress(scope).part) {
    case LessonPart::question:
      return paragraph(scope, lesson.question, skin);
    case LessonPart::prediction:
      return draw_prediction(scope, lesson, lesson_progress(scope).guess, skin);
    case LessonPart::touch:
      return draw_touch(scope, lesson, skin);
    case LessonPart::check:
      return draw_check(scope, lesson, skin);
    case LessonPart::why:
      return draw_why(scope, lesson, skin);
  }
}

// Returns true if the reader leaves.
bool draw_footer(AppState& scope, const Skin& skin) {
  const LessonPart part = lesson_progress(scope).part;
  ImGui::BeginDisabled(part == LessonPart::question);
  if (ImGui::Button(tr("Back"))) move_part(scope, -1);
  ImGui::EndDisabled();
  next_in_row(button_width(tr("Next")), skin.px(6));
  ImGui::BeginDisabled(part == LessonPart::why);
  if (ImGui::Button(tr("Next"))) move_part(scope, 1);
  ImGui::EndDisabled();
  next_in_row(button_width(tr("Restart")), skin.px(6));
  if (ImGui::Button(tr("Restart"))) restart_lesson(scope);
  next_in_row(button_width(tr("Leave")), skin.px(6));
  return ImGui::Button(tr("Leave"));
}

void draw_open_lesson(AppState& scope, const Skin& skin) {
  const Lesson& lesson = open_lesson(scope);
  draw_wrapped_label(skin.fonts.bold, skin.theme.text, lesson.title.in(language_of(scope)), skin);
  draw_parts(scope, skin);
  ImGui::Separator();
  ImGui::BeginChild("part", {0, -ImGui::GetFrameHeightWithSpacing() * 2}, false, column_flags());
  draw_body(scope, lesson, skin);
  ImGui::EndChild();
  if (draw_footer(scope, skin)) leave_lesson(scope);
}

void draw_list(AppState& scope, const Skin& skin) {
  const char* heading = tr("Lessons");
  bold_text(heading, skin);
  ImGui::SameLine();
  if (ImGui::SmallButton(tr("Leave"))) return leave_lesson(scope);
  ImGui::Spacing();
  for (std::size_t i = 0; i < scope.facts.lessons.size(); ++i) {
    const Lesson& lesson = scope.facts.lessons[i];
    const auto progress = scope.lessons.progress.find(lesson.name);
    const bool finished = progress != scope.lessons.progress.end() && progress->second.part == LessonPart::why;
    ImGui::PushID(static_cast<int>(i));
    const std::string title = lesson.title.in(language_of(scope));
    if (draw_line(finished ? fmt::format("✓ {} ({})", title, tr("completed")) : title, false, skin))
      begin_lesson(scope, i);
    ImGui::PopID();
  }
}

}  // namespace

const char* part_title(LessonPart part) {
  constexpr std::array titles = {mark("Question"), mark("Prediction"), mark("Try it"), mark("Check"), mark("Why")};
  return tr(titles.at(static_cast<std::size_t>(part)));
}

std::string guess_text(const AppState& scope, const Prediction& prediction, const Expectation& guess) {
  switch (prediction.kind) {
    case PredictionKind::choose:
      return guess.option < 0 ? "" : option_text(scope, prediction, guess.option);
    case PredictionKind::mark:
      return guess.word;
    case PredictionKind::number:
      return is_share(prediction) ? fmt::format("{:.0f} %", 100 * guess.number) : fmt::format("{:.2f}", guess.number);
    case PredictionKind::order: {
      std::string text;
      for (const int option : guess.order) text += (text.empty() ? "" : " > ") + option_text(scope, prediction, option);
      return text;
    }
    case PredictionKind::curve:
      break;
  }
  return "";
}

VerdictWords verdict_words() {
  return {tr("You predicted"), tr("As you predicted."), tr("Not what you predicted."), tr("The answer")};
}

void draw_lesson_page(AppState& scope, const Skin& skin) {
  if (scope.lessons.file)
    for (const std::string& complaint : scope.lessons.file->complaints) small_text(skin.theme.error, complaint, skin);
  if (in_lesson(scope))
    draw_open_lesson(scope, skin);
  else
    draw_list(scope, skin);
}

}  // namespace attnscope
