// A lesson as data: a question, a prediction, things to do in the real panels, a check computed from what is seen
// there, and the reason. Read from a text file by lesson_text.h; assets/manual/lesson-format.md describes the format.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/translation.h"
#include "plain/config.h"
#include "plain/heads.h"

namespace attnscope {

// ---- texts

struct Words {
  std::array<std::string, 2> by_language;
  const std::string& in(Language language) const { return by_language[static_cast<std::size_t>(language)]; }
  std::string& in(Language language) { return by_language[static_cast<std::size_t>(language)]; }
};

// ---- what is computed

using Value = std::variant<double, std::string>;

// "weight encoder 2 1 it animal @ changed": a measure of the table in measures.h, at a moment that the lesson named;
// no moment: now.
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

// Text with expressions between braces, which are computed when it is shown.
struct WordsPart {
  std::string text;
  std::optional<Expression> value;  // after the text
};
std::string_view text_problem(std::string_view text);  // what is wrong with its braces; empty: nothing

// ---- what is set

// One line of what a lesson sets before it begins, or does for a reader who asks: "off: encoder 2 1".
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
  std::string text;  // of show, sentence, word, sense, query, change; of plain, mask, reset, train nothing counts
  HeadPlace place;   // of head and off
  std::vector<double> numbers;  // of the others
};

// ---- the five parts

enum class LessonPart { question, prediction, touch, check, why };
inline constexpr int lesson_parts = 5;

enum class PredictionKind {
  choose,  // one of the options
  mark,    // a word of the sentence
  number,  // a value between two
  order,   // the options, largest first
  curve,   // a value at every one of some places
};

struct Option {
  std::string name;
  Words text;
  std::vector<Condition> right;     // of `choose`: when all hold, it is the right one
  std::optional<Expression> value;  // of `order` and `curve`
  double at = 0;                    // of `curve`: its place
};

struct Prediction {
  PredictionKind kind = PredictionKind::choose;
  Words text;
  std::vector<Option> options;
  double from = 0, to = 1;          // of `number` and `curve`
  Words across, up;                 // of `curve`: what its axes are
  double within = 0;                // how far from the truth is still right
  std::optional<Expression> value;  // of `mark` and `number`
};

// A thing to do: done when all its conditions hold at once. Everything that the lesson computes is then written down
// under its name.
struct LessonStep {
  std::string name;
  Words text;
  std::vector<Condition> until;
  std::vector<std::string> lit;   // anchors
  std::vector<Setting> settings;  // that do it
};

struct Lesson {
  std::string name;
  int place = 0;  // in the order they are taken in
  Words title;
  std::optional<Config> run;  // that it begins with, with weights that have learned nothing; none: the one that ships
  std::vector<Setting> start;
  std::vector<std::string> lit;  // while nothing is to be done yet
  Words question;
  Prediction prediction;
  std::vector<LessonStep> steps;
  Words found;  // after the check
  Words why;
  std::string formula;
  std::string source;
};

// Every expression that stands in the lesson, each once.
std::vector<Expression> expressions_of(const Lesson& lesson);

// The parts of a text that was read, whose braces are right.
std::vector<WordsPart> parts_of(std::string_view text);

// "weight encoder 2 1 it animal"
std::string expression_text(const Expression& expression);

}  // namespace attnscope
