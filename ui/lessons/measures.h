// The measures that a lesson can compute from the displayed data: a table here and one for Origins, exposed as one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "lessons/lesson.h"
#include "messages/snapshot.h"
#include "workspaces/workspace.h"

namespace attnscope {

// The data on display.
struct LessonSight {
  const Snapshot* inspection;  // the complete answer to the present probe; null: pending
  const Views& views;
  const Workspace& open;
  const Config& config;  // of the run
  const Curves& curves;
};

struct Measure {
  std::string_view name;
  std::string_view form;  // its arguments: "PART LAYER HEAD QUERY KEY"
  std::string_view help;
  // returns nullopt if not available now
  std::optional<Value> (*of)(const LessonSight&, std::span<const std::string> arguments);
};

std::span<const Measure> lesson_measures();
const Measure* find_measure(std::string_view name);

// The error in the expression; empty: valid.
std::string complaint_about(const Expression& expression);

// The present value, ignoring the expression's moment.
std::optional<Value> measured(const Expression& expression, const LessonSight& sight);

// "encoder", 2, 1 → the head; nullopt: unknown part, or a number below 1.
std::optional<HeadPlace> head_from(std::string_view part, std::string_view layer, std::string_view head);

// The last occurrence of the word in the sentence, by its first token; −1: none.
int position_of(std::span<const Token> tokens, std::string_view word);
int position_of(const std::vector<std::string>& tokens, std::string_view word);
std::vector<Token> tokens_of(const std::vector<std::string>& tokens);

// Parses the whole text as an integer or decimal number; nullopt: invalid.
std::optional<double> number_from(std::string_view text);

// "0.97", "12", "il"
std::string value_text(const Value& value);

// The number in percent, without the sign.
std::string percent_text(const Value& share);

}  // namespace attnscope
