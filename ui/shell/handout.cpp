#include "shell/handout.h"

#include <fmt/format.h>

#include <optional>

#include "base/numbers.h"
#include "base/translation.h"
#include "shell/lessons.h"
#include "widgets/svg.h"

namespace attnscope {
namespace {

constexpr std::string_view style = R"(
body { max-width: 46em; margin: 2em auto; padding: 0 1em; font: 11pt/1.5 sans-serif; color: #111; background: #fff; }
h1 { font-size: 1.5em; } h2 { font-size: 1.05em; margin: 1.2em 0 .3em; } p, ul, ol { margin: .3em 0; }
figure { margin: 1.2em 0; break-inside: avoid; } figure svg { width: 100%; height: auto; }
figcaption, .source { font-size: .85em; color: #444; } .formula { font-family: monospace; }
)";

class Page {
 public:
  void element(std::string_view name, const std::string& text, std::string_view attributes = "") {
    if (!text.empty())
      html_ +=
          fmt::format("<{0}{2}{3}>{1}</{0}>\n", name, escaped_xml(text), attributes.empty() ? "" : " ", attributes);
  }
  void begin(std::string_view name) { html_ += fmt::format("<{}>\n", name); }
  void end(std::string_view name) { html_ += fmt::format("</{}>\n", name); }
  void raw(std::string_view html) { html_ += html; }
  std::string taken() { return std::move(html_); }

 private:
  std::string html_;
};

std::string in_language(const Scope& scope, const Words& words) {
  return filled(scope, words.in(language_of(scope)));
}

void add_part(Page& page, const Scope& scope, LessonPart part, const Words& words) {
  page.element("h2", part_title(scope, part));
  page.element("p", in_language(scope, words));
}

// The options as they are to be ticked, ordered or drawn.
void add_prediction(Page& page, const Scope& scope, const Lesson& lesson) {
  add_part(page, scope, LessonPart::prediction, lesson.prediction.text);
  const bool of_words =
      lesson.prediction.kind == PredictionKind::choose || lesson.prediction.kind == PredictionKind::order;
  if (of_words) {
    page.begin("ul");
    for (const Option& option : lesson.prediction.options) page.element("li", in_language(scope, option.text));
    page.end("ul");
  }
  const Expectation& guess = lesson_progress(scope).guess;
  const std::string text = guess.made ? guess_text(scope, lesson.prediction, guess) : "";
  if (!text.empty()) page.element("p", fmt::format("{}: {}", verdict_words(scope).yours, text));
}

void add_steps(Page& page, const Scope& scope, const Lesson& lesson) {
  page.element("h2", part_title(scope, LessonPart::touch));
  page.begin("ol");
  for (const LessonStep& step : lesson.steps) page.element("li", in_language(scope, step.text));
  page.end("ol");
}

void add_check(Page& page, const Scope& scope, const Lesson& lesson) {
  page.element("h2", part_title(scope, LessonPart::check));
  const std::optional<Verdict> verdict = verdict_of(scope);
  if (verdict) {
    const VerdictWords words = verdict_words(scope);
    if (lesson_progress(scope).guess.made) page.element("p", verdict->right ? words.right : words.wrong);
    const std::string truth = guess_text(scope, lesson.prediction, verdict->truth);
    if (!truth.empty()) page.element("p", fmt::format("{}: {}", words.truth, truth));
  }
  page.element("p", in_language(scope, lesson.found));
}

void add_lesson(Page& page, const Scope& scope, const Lesson& lesson) {
  page.element("h1", in_language(scope, lesson.title));
  add_part(page, scope, LessonPart::question, lesson.question);
  add_prediction(page, scope, lesson);
  add_steps(page, scope, lesson);
  add_check(page, scope, lesson);
  add_part(page, scope, LessonPart::why, lesson.why);
  page.element("p", lesson.formula, "class=\"formula\"");
  page.element("p", lesson.source, "class=\"source\"");
}

std::string caption(const Scope& scope) {
  const Snapshot* look = shown_maps(scope).complete.snapshot.get();
  std::string text = tr(scope.layout.workspace->title);
  if (!look) return text;
  if (!look->source_text.empty()) text += fmt::format(". {}", look->source_text);
  if (!look->output_text.empty()) text += fmt::format(" \u2192 {}", look->output_text);
  return trf("{} (step {}, {})", text, grouped(look->step), shown_run(scope).name);
}

// Without the line that declares a file of its own.
std::string_view element_of(std::string_view svg) {
  const std::size_t at = svg.find("<svg");
  return at == std::string_view::npos ? std::string_view() : svg.substr(at);
}

}  // namespace

std::string handout_html(const Scope& scope, std::string_view svg) {
  const Lesson* lesson = in_lesson(scope) ? &open_lesson(scope) : nullptr;
  const std::string title = lesson ? in_language(scope, lesson->title) : std::string(tr(scope.layout.workspace->title));
  const std::string_view code = language_codes[static_cast<std::size_t>(language_of(scope))];
  Page page;
  page.raw(fmt::format("<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"{}\">\n<head>\n", code));
  page.raw("<meta charset=\"utf-8\"/>\n");
  page.element("title", title);
  page.raw(fmt::format("<style>{}</style>\n</head>\n<body>\n", style));
  if (lesson)
    add_lesson(page, scope, *lesson);
  else
    page.element("h1", title);
  page.begin("figure");
  page.raw(element_of(svg));
  page.element("figcaption", caption(scope));
  page.end("figure");
  page.raw("</body>\n</html>\n");
  return page.taken();
}

}  // namespace attnscope
