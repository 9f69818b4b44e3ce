// A lesson as data: a question, a prediction, steps to try in the real panels, a check computed from the displayed
// data, and the explanation. Read from a text file by lesson_text.h; assets/manual/lesson-format.md describes the
// format.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/translation.h"
#include "config/config.h"
#include "config/heads.h"

namespace attnscope {

// ---- text

struct Words {
  std::array<std::string, language_codes.size()> by_language;
  std::string& in(Language language) { return by_language[static_cast<std::size_t>(language)]; }
  // In the first language that has the text if this one has not; empty if none has.
  const std::string& in(Language language) const;
};

// ---- computed values

using Value = std::variant<double, std::string>;

// "weight encoder 2 1 it animal @ changed": a measure from the table in measures.h, at a named moment of the lesson;
// without a moment: now.
struct Expression {
  std::string measure;
  std::vector<std::string> arguments;
  std::string moment;
  bool operator==(const Expression&) const = default;
};

enum class Relation { equal, different, less, greater, at_most, at_least, has };

struct Condition {
  Expression left;
  Relation relation = Relation::equal;
  std::variant<Value, Expression> right;
};

// Text with expressions in braces, which are evaluated when it is shown.
struct WordsPart {
  std::string text;
  std::optional<Expression> value;  // follows the text
};
std::string_view text_problem(std::string_view text);  // the error in its braces; empty: valid

// ---- settings

// One setting that a lesson makes before it starts, or on behalf of the reader: "off: encoder 2 1".
struct Setting {
  enum class Kind {
    show,
    sentence,
    word,
    sense,
    head,
    query,
    plain,
    off,
    mask,
    change,
    reset,
    train,
    scores,
    width,
    turn,
    warmup
  };
  Kind kind = Kind::show;
  std::string text;  // for show, sentence, word, sense, query, change; plain, mask, reset and train use no argument
  HeadPlace place;   // for head and off
  std::vector<double> numbers;  // for the other kinds
};

// ---- the five parts

enum class LessonPart { question, prediction, touch, check, why };
inline constexpr int lesson_parts = 5;

enum class PredictionKind {
  choose,  // select one option
  mark,    // select a word of the sentence
  number,  // a value in a range
  order,   // sort the options in descending order
  curve,   // a value at each of several points
};

struct Option {
  std::string name;
  Words text;
  std::vector<Condition> right;     // for `choose`: the option is correct if all hold
  std::optional<Expression> value;  // for `order` and `curve`
  double at = 0;                    // for `curve`: its x
};

struct Prediction {
  PredictionKind kind = PredictionKind::choose;
  Words text;
  std::vector<Option> options;
  double from = 0, to = 1;          // for `number` and `curve`
  Words across, up;                 // for `curve`: labels of its axes
  double within = 0;                // maximum error of a correct answer
  std::optional<Expression> value;  // for `mark` and `number`
};

// A step to try: done when all its conditions hold at once. The values of all the lesson's expressions are then
// recorded under its name.
struct LessonStep {
  std::string name;
  Words text;
  std::vector<Condition> until;
  std::vector<std::string> lit;   // highlighted anchors
  std::vector<Setting> settings;  // performs the step for the reader
};

struct Lesson {
  std::string name;
  int place = 0;  // order in which the steps are done
  Words title;
  std::optional<Config> run;  // configuration of an untrained run that the lesson uses; nullopt: the shipped run
  std::vector<Setting> start;
  std::vector<std::string> lit;  // highlighted before the first step
  Words question;
  Prediction prediction;
  std::vector<LessonStep> steps;
  Words found;  // shown after the check
  Words why;
  std::string formula;
  std::string source;
};

// All expressions in the lesson, without duplicates.
std::vector<const Words*> words_of(const Lesson& lesson);  // all its texts

std::vector<Expression> expressions_of(const Lesson& lesson);

// Splits a text whose braces are known to be valid.
std::vector<WordsPart> parts_of(std::string_view text);

// "weight encoder 2 1 it animal"
std::string expression_text(const Expression& expression);

}  // namespace attnscope
