// What a lesson can compute of what is shown: a table here and one for Origins, shown as one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/lesson.h"
#include "plain/config.h"
#include "plain/snapshot.h"
#include "workspaces/workspace.h"

namespace attnscope {

// What lies before the reader's eyes.
struct LessonSight {
  const Snapshot* inspection;  // the whole answer to what is asked now; null: on its way
  const Views& views;
  const Workspace& open;
  const Config& config;  // of the run
};

struct Measure {
  std::string_view name;
  std::string_view form;  // its arguments: "PART LAYER HEAD QUERY KEY"
  std::string_view help;
  std::optional<Value> (*of)(const LessonSight&, std::span<const std::string> arguments);  // none: not to be had now
};

std::span<const Measure> lesson_measures();
const Measure* find_measure(std::string_view name);

// What is wrong with the expression; empty: nothing.
std::string complaint_about(const Expression& expression);

// Now, whatever its moment.
std::optional<Value> measured(const Expression& expression, const LessonSight& sight);

// "encoder", 2, 1 → its place; none: no part is called so, or a number is below 1.
std::optional<HeadPlace> head_from(std::string_view part, std::string_view layer, std::string_view head);

// The last word of the sentence written so, as its first piece; −1: it has none.
int position_of(std::span<const Token> tokens, std::string_view word);
int position_of(const std::vector<std::string>& tokens, std::string_view word);
std::vector<Token> tokens_of(const std::vector<std::string>& tokens);

// A whole number or a decimal one, all of the text; none: it is neither.
std::optional<double> number_from(std::string_view text);

// "0.97", "12", "il"
std::string value_text(const Value& value);

}  // namespace attnscope
