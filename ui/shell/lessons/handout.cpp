#include "shell/lessons/handout.h"

#include <fmt/format.h>

#include <optional>

#include "base/numbers.h"
#include "base/translation.h"
#include "lessons/curve_figure.h"
#include "messages/overrides.h"
#include "shell/lessons/lessons.h"
#include "shell/overrides.h"
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

void add_part(Page& page, const AppState& scope, LessonPart part, const Words& words) {
  page.element("h2", part_title(part));
  page.element("p", in_language(scope, words));
}

std::string svg_text(FigurePoint middle, std::string_view text, std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" text-anchor=\"middle\"{}>{}</text>\n", middle.x,
                     middle.y, more, escaped_xml(text));
}

std::string svg_line(const CurveFigure& figure, const std::vector<double>& curve, std::string_view stroke) {
  std::string points;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const FigurePoint at = figure.at(i, curve[i]);
    points += fmt::format("{:.1f},{:.1f} ", at.x, at.y);
  }
  return fmt::format("<polyline fill=\"none\" stroke=\"#111\" {} points=\"{}\"/>\n", stroke, points);
}

// Empty axes to draw on, with the prediction dashed and the truth solid if they exist.
std::string curve_svg(const AppState& scope, const Prediction& prediction, const Expectation& guess,
                      const Expectation* truth) {
  constexpr double width = 420, height = 200, middle_of_text = 4;
  const CurveFigure figure{{56, 10}, {width - 4, 160}, prediction};
  std::string svg = fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\">\n", width, height);
  svg += fmt::format("<path fill=\"none\" stroke=\"#888\" d=\"M{0} {1}V{2}H{3}\"/>\n", figure.low.x, figure.low.y,
                     figure.high.y, figure.high.x);
  for (const FigureTick& tick : figure.values(-16)) svg += svg_text({tick.at.x, tick.at.y + middle_of_text}, tick.text);
  for (const FigureTick& tick : figure.places(14)) svg += svg_text(tick.at, tick.text);
  svg += svg_text({(figure.low.x + figure.high.x) / 2, height - 6}, in_language(scope, prediction.across));
  const FigurePoint beside{14, (figure.low.y + figure.high.y) / 2};
  svg += svg_text(beside, in_language(scope, prediction.up),
                  fmt::format(" transform=\"rotate(-90 {} {})\"", beside.x, beside.y));
  if (guess.made) svg += svg_line(figure, guess.curve, "stroke-width=\"2\" stroke-dasharray=\"6 4\"");
  if (truth) svg += svg_line(figure, truth->curve, "stroke-width=\"3\"");
  return svg + "</svg>\n";
}

void add_curve(Page& page, const AppState& scope, const Prediction& prediction, const Expectation* truth) {
  if (prediction.kind != PredictionKind::curve) return;
  const Expectation& guess = lesson_progress(scope).guess;
  const VerdictWords words = verdict_words();
  std::string key = guess.made ? fmt::format("- - {}", words.yours) : "";
  if (truth) key += fmt::format("{}\u2014 {}", key.empty() ? "" : ", ", words.truth);
  page.begin("figure");
  page.raw(curve_svg(scope, prediction, guess, truth));
  page.element("figcaption", key);
  page.end("figure");
}

// The options, to be ticked, ordered or drawn.
void add_prediction(Page& page, const AppState& scope, const Lesson& lesson) {
  add_part(page, scope, LessonPart::prediction, lesson.prediction.text);
  const bool of_words =
      lesson.prediction.kind == PredictionKind::choose || lesson.prediction.kind == PredictionKind::order;
  if (of_words) {
    page.begin("ul");
    for (const Option& option : lesson.prediction.options) page.element("li", in_language(scope, option.text));
    page.end("ul");
  }
  add_curve(page, scope, lesson.prediction, nullptr);
  const Expectation& guess = lesson_progress(scope).guess;
  const std::string text = guess.made ? guess_text(scope, lesson.prediction, guess) : "";
  if (!text.empty()) page.element("p", fmt::format("{}: {}", verdict_words().yours, text));
}

void add_steps(Page& page, const AppState& scope, const Lesson& lesson) {
  page.element("h2", part_title(LessonPart::touch));
  page.begin("ol");
  for (const LessonStep& step : lesson.steps) page.element("li", in_language(scope, step.text));
  page.end("ol");
}

void add_check(Page& page, const AppState& scope, const Lesson& lesson) {
  page.element("h2", part_title(LessonPart::check));
  const std::optional<Verdict> verdict = verdict_of(scope);
  if (verdict) {
    const VerdictWords words = verdict_words();
    if (lesson_progress(scope).guess.made) page.element("p", verdict->right ? words.right : words.wrong);
    const std::string truth = guess_text(scope, lesson.prediction, verdict->truth);
    if (!truth.empty()) page.element("p", fmt::format("{}: {}", words.truth, truth));
    add_curve(page, scope, lesson.prediction, &verdict->truth);
  }
  page.element("p", in_language(scope, lesson.found));
}

void add_lesson(Page& page, const AppState& scope, const Lesson& lesson) {
  page.element("h1", in_language(scope, lesson.title));
  add_part(page, scope, LessonPart::question, lesson.question);
  add_prediction(page, scope, lesson);
  add_steps(page, scope, lesson);
  add_check(page, scope, lesson);
  add_part(page, scope, LessonPart::why, lesson.why);
  page.element("p", lesson.formula, "class=\"formula\"");
  page.element("p", lesson.source, "class=\"source\"");
}

std::string caption(const AppState& scope) {
  const Snapshot* inspection = shown_maps(scope).complete.snapshot.get();
  std::string text = tr(scope.layout.workspace->title);
  if (!inspection) return text;
  if (!inspection->source_text.empty()) text += fmt::format(". {}", inspection->source_text);
  if (!inspection->output_text.empty()) text += fmt::format(" \u2192 {}", inspection->output_text);
  for (const Override& change : listed(overrides_of(scope), inspection))
    text += fmt::format("; {}", tr_filled(change.text));
  return trf("{} (step {}, {})", text, grouped(inspection->step), shown_run(scope).run.name);
}

// Strips the XML declaration.
std::string_view element_of(std::string_view svg) {
  const std::size_t at = svg.find("<svg");
  return at == std::string_view::npos ? std::string_view() : svg.substr(at);
}

}  // namespace

std::string handout_html(const AppState& scope, std::string_view svg) {
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
