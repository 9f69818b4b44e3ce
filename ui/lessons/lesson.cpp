#include "lessons/lesson.h"

#include <algorithm>
#include <utility>

#include "lessons/lesson_text.h"

namespace attnscope {
namespace {

void add(std::vector<Expression>& all, const Expression& expression) {
  if (std::ranges::find(all, expression) == all.end()) all.push_back(expression);
}

void add(std::vector<Expression>& all, const Words& words) {
  for (const std::string& text : words.by_language)
    for (const WordsPart& part : parts_of(text))
      if (part.value) add(all, *part.value);
}

void add(std::vector<Expression>& all, const std::vector<Condition>& conditions) {
  for (const Condition& condition : conditions) {
    add(all, condition.left);
    if (const auto* right = std::get_if<Expression>(&condition.right)) add(all, *right);
  }
}

}  // namespace

const std::string& Words::in(Language language) const {
  const std::string& wanted = by_language[static_cast<std::size_t>(language)];
  if (!wanted.empty()) return wanted;
  const auto found = std::ranges::find_if_not(by_language, &std::string::empty);
  return found == by_language.end() ? wanted : *found;
}

std::vector<const Words*> words_of(const Lesson& lesson) {
  const Prediction& prediction = lesson.prediction;
  std::vector<const Words*> all{&lesson.title,  &lesson.question, &prediction.text, &prediction.across,
                                &prediction.up, &lesson.found,    &lesson.why};
  for (const Option& option : prediction.options) all.push_back(&option.text);
  for (const LessonStep& step : lesson.steps) all.push_back(&step.text);
  return all;
}

std::vector<Expression> expressions_of(const Lesson& lesson) {
  std::vector<Expression> all;
  for (const Words* words : words_of(lesson)) add(all, *words);
  if (lesson.prediction.value) add(all, *lesson.prediction.value);
  for (const Option& option : lesson.prediction.options) {
    add(all, option.right);
    if (option.value) add(all, *option.value);
  }
  for (const LessonStep& step : lesson.steps) {
    add(all, step.until);
  }
  return all;
}

std::string_view text_problem(std::string_view text) {
  bool open = false;
  for (const char c : text) {
    if (c == (open ? '{' : '}')) return open ? "{ within { }" : "} without {";
    if (c == '{' || c == '}') open = !open;
  }
  return open ? "{ without }" : "";
}

std::vector<WordsPart> parts_of(std::string_view text) {
  std::vector<WordsPart> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t open = text.find('{', begin);
    WordsPart part{std::string(text.substr(begin, open - begin)), {}};
    const std::size_t close = open == std::string_view::npos ? open : text.find('}', open);
    if (close != std::string_view::npos) part.value = read_expression(text.substr(open + 1, close - open - 1));
    parts.push_back(std::move(part));
    begin = close == std::string_view::npos ? text.size() : close + 1;
  }
  return parts;
}

std::string expression_text(const Expression& expression) {
  std::string text = expression.measure;
  for (const std::string& argument : expression.arguments) text += " " + argument;
  return text;
}

}  // namespace attnscope
