#include "lessons/lesson_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "lessons/measures.h"
#include "workspaces/workspaces.h"

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 5> areas = {"sentence", "workspace", "tabs", "setup", "curves"};
constexpr std::array<std::string_view, 5> kinds = {"choose", "mark", "number", "order", "curve"};
// Same order as Setting::Kind.
constexpr std::array<std::string_view, 16> settings = {"show",   "sentence", "word", "sense",  "head",  "query",
                                                       "plain",  "off",      "mask", "change", "reset", "train",
                                                       "scores", "width",    "turn", "warmup"};
constexpr std::array<std::string_view, 7> signs = {"=", "!=", "<", ">", "<=", ">=", "has"};  // same order as Relation

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// Length in bytes of the UTF-8 character at `at`; 0: invalid.
std::size_t character_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : 0); };
  const unsigned first = byte(at);
  if (first < 0x80) return first >= 0x20 || first == '\t' ? 1 : 0;
  const std::size_t length = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
  return length;
}

bool is_text(std::string_view line) {
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t length = character_length(line, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

// ---- lines

// "key: value", and the indented lines below it.
struct Entry {
  int line = 0;
  std::string key;
  std::string value;
};

// "[step off]": the kind, and the name.
struct Section {
  int line = 1;
  std::string name;
  std::string argument;
  std::vector<Entry> entries;
};

using Complain = std::function<void(int line, const std::string& what)>;

void read_heading(std::vector<Section>& sections, int number, std::string_view line, const Complain& complain) {
  if (line.back() != ']') return complain(number, "a heading must end with ]");
  const std::vector<std::string> words = words_in(line.substr(1, line.size() - 2));
  if (words.empty() || words.size() > 2) return complain(number, "a heading must be one word or \"step NAME\"");
  sections.push_back({number, words[0], words.size() > 1 ? words[1] : "", {}});
}

void read_line(std::vector<Section>& sections, int number, std::string_view line, const Complain& complain) {
  const bool goes_on = line.front() == ' ' || line.front() == '\t';
  line = trimmed(line);
  if (line.empty() || line.front() == '#') return;
  std::vector<Entry>& entries = sections.back().entries;
  if (goes_on) {
    if (entries.empty())
      return complain(number, "this line is indented, but there is no entry above that it could continue");
    entries.back().value += (entries.back().value.empty() ? "" : " ") + std::string(line);
    return;
  }
  if (line.front() == '[') return read_heading(sections, number, line, complain);
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return complain(number, "expected \"key: value\" or \"[section]\"");
  entries.push_back(
      {number, std::string(trimmed(line.substr(0, colon))), std::string(trimmed(line.substr(colon + 1)))});
}

std::vector<Section> read_sections(std::string_view text, const Complain& complain) {
  std::vector<Section> sections(1);
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_text(line)) {
      complain(number, "the line contains bytes that are not UTF-8 text");
    } else if (!line.empty()) {
      read_line(sections, number, line, complain);
    }
  }
  return sections;
}

// ---- expressions and conditions

Expression checked_expression(std::string_view text) {
  Expression expression = read_expression(text);
  const std::string complaint = complaint_about(expression);
  if (!complaint.empty()) throw std::invalid_argument(complaint);
  return expression;
}

std::variant<Value, Expression> read_operand(std::string_view text) {
  text = trimmed(text);
  if (text.size() > 1 && text.front() == '"' && text.back() == '"')
    return Value(std::string(text.substr(1, text.size() - 2)));
  if (const auto number = number_from(text)) return Value(*number);
  return checked_expression(text);
}

Condition read_condition(std::string_view text) {
  for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ', at + 1)) {
    const std::string_view rest = text.substr(at + 1);
    const std::size_t end = rest.find(' ');
    const auto sign = std::ranges::find(signs, rest.substr(0, end));
    if (sign == signs.end() || end == std::string_view::npos) continue;
    return {checked_expression(text.substr(0, at)), static_cast<Relation>(sign - signs.begin()),
            read_operand(rest.substr(end))};
  }
  throw std::invalid_argument("a condition must be \"MEASURE = VALUE\", with one of = != < > <= >= has between spaces");
}

// Separated by " and ".
std::vector<Condition> read_conditions(std::string_view text) {
  constexpr std::string_view joint = " and ";
  std::vector<Condition> conditions;
  while (true) {
    const std::size_t at = text.find(joint);
    conditions.push_back(read_condition(trimmed(text.substr(0, at))));
    if (at == std::string_view::npos) return conditions;
    text = text.substr(at + joint.size());
  }
}

double read_number(std::string_view text) {
  const auto number = number_from(text);
  if (!number) throw std::invalid_argument(fmt::format("\"{}\" is not a number", text));
  return *number;
}

// ---- settings

// "model.attention", "bahdanau"
void read_field(Config& config, std::string_view key, std::string_view value) {
  try {
    set_field(config, key, value);
  } catch (const ConfigError& error) {
    throw std::invalid_argument(error.what());
  }
}

void check_change(const std::string& text) {
  const auto equal = text.find('=');
  if (equal == std::string::npos) throw std::invalid_argument("a change must be \"FIELD=VALUE\"");
  Config scratch;
  read_field(scratch, std::string_view(text).substr(0, equal), std::string_view(text).substr(equal + 1));
}

struct Range {
  double low, high;
};

// The allowed ranges of a setting's numbers.
std::vector<Range> ranges_of(Setting::Kind kind) {
  if (kind == Setting::Kind::scores) return {{1, 512}};
  if (kind == Setting::Kind::width) return {{0.05, 20}};
  if (kind == Setting::Kind::turn) return {{0, 512}, {0, 512}};
  return {{1, 40'000}};  // warmup
}

HeadPlace read_head(std::string_view text) {
  const std::vector<std::string> words = words_in(text);
  const auto place = words.size() == 3 ? head_from(words[0], words[1], words[2]) : std::nullopt;
  if (!place)
    throw std::invalid_argument(
        "a head must be \"encoder 2 1\": encoder, decoder or cross, layer and head, counted from 1");
  return *place;
}

bool is_view(std::string_view name) {
  const auto workspaces = workspace_names(), views = view_names();
  return std::ranges::find(workspaces, name) != workspaces.end() || std::ranges::find(views, name) != views.end();
}

Setting read_setting(Setting::Kind kind, const std::string& text) {
  using enum Setting::Kind;
  if (text.empty()) throw std::invalid_argument("the value after the colon is missing");
  if (kind == show && !is_view(text)) throw std::invalid_argument(fmt::format("there is no view \"{}\"", text));
  if (kind == plain && text != "all") throw std::invalid_argument("\"plain:\" only accepts \"all\"");
  if (kind == mask && text != "none") throw std::invalid_argument("\"mask:\" only accepts \"none\"");
  if ((kind == reset || kind == train) && text != "all")
    throw std::invalid_argument(fmt::format("\"{}:\" only accepts \"all\"", settings[static_cast<std::size_t>(kind)]));
  if (kind == change) check_change(text);
  if (kind == head || kind == off) return {kind, text, read_head(text), {}};
  Setting setting{kind, text, {}, {}};
  if (kind < scores) return setting;
  const std::vector<std::string> words = words_in(text);
  const std::vector<Range> ranges = ranges_of(kind);
  if (words.size() != ranges.size()) throw std::invalid_argument(fmt::format("expected {} number(s)", ranges.size()));
  for (std::size_t i = 0; i < words.size(); ++i) {
    const double number = read_number(words[i]);
    if (!(number >= ranges[i].low && number <= ranges[i].high))
      throw std::invalid_argument(
          fmt::format("{} is out of range, allowed: {} to {}", words[i], ranges[i].low, ranges[i].high));
    setting.numbers.push_back(number);
  }
  return setting;
}

// ---- the lesson

class LessonReader {
 public:
  LessonReader(Lesson& lesson, const Complain& complain) : lesson_(lesson), complain_(complain) {}

  void read(const Section& section) {
    if (!section.argument.empty() && section.name != "step")
      return complain_(section.line, fmt::format("[{}] must not have a name", section.name));
    if (section.name != "step" && !seen_.insert(section.name).second)
      return complain_(section.line, fmt::format("a second [{}]", section.name));
    if (section.name == "step") begin_step(section);
    keys_.clear();
    for (const Entry& entry : section.entries) {
      try {
        read(section, entry);
      } catch (const std::invalid_argument& error) {
        complain_(entry.line, error.what());
      }
    }
  }

  // Checks for missing parts after everything was read.
  void finish(const std::vector<Section>& sections) {
    for (const char* name : {"question", "prediction", "check", "why"})
      if (!seen_.contains(name)) complain_(1, fmt::format("the section [{}] is missing", name));
    if (lesson_.name.empty()) complain_(1, "the lesson has no name: add \"lesson: NAME\"");
    if (lesson_.steps.empty()) complain_(1, "the lesson has no [step NAME], so there is nothing to try");
    if (lesson_.steps.size() > most_lesson_entries)
      complain_(1, fmt::format("{} steps, allowed: at most {}", lesson_.steps.size(), most_lesson_entries));
    if (lesson_.source.empty()) complain_(1, "[why] has no \"source\"");
    for (const LessonStep& step : lesson_.steps)
      if (step.until.empty())
        complain_(line_of(sections, step.name), fmt::format("step {} has no \"until\"", step.name));
    check_words();
    check_prediction();
    check_moments();
    check_run(sections);
  }

 private:
  static int line_of(const std::vector<Section>& sections, std::string_view step) {
    for (const Section& section : sections)
      if (section.argument == step) return section.line;
    return 1;
  }

  void begin_step(const Section& section) {
    if (section.argument.empty()) complain_(section.line, "a step needs a name: \"[step NAME]\"");
    if (section.argument == "start" || std::ranges::count(lesson_.steps, section.argument, &LessonStep::name) > 0)
      complain_(section.line, fmt::format("the name \"{}\" is already used", section.argument));
    lesson_.steps.push_back({.name = section.argument, .text = {}, .until = {}, .lit = {}, .settings = {}});
  }

  void read(const Section& section, const Entry& entry) {
    if (entry.key != "lit" && entry.key != "off" && entry.key != "change" && !keys_.insert(entry.key).second)
      throw std::invalid_argument(fmt::format("a second \"{}\"", entry.key));
    const bool known = section.name.empty()           ? read_head_of(entry)
                       : section.name == "run"        ? read_run(entry)
                       : section.name == "start"      ? read_setting_of(lesson_.start, lesson_.lit, entry)
                       : section.name == "question"   ? read_words(lesson_.question, entry.key, entry)
                       : section.name == "prediction" ? read_prediction(entry)
                       : section.name == "step"       ? read_step(entry)
                       : section.name == "check"      ? read_words(lesson_.found, entry.key, entry)
                       : section.name == "why"        ? read_why(entry)
                                                      : false;
    if (!known)
      throw std::invalid_argument(fmt::format("unknown key \"{}\" in {}", entry.key,
                                              section.name.empty() ? "the first lines" : "[" + section.name + "]"));
  }

  // Returns true if the key is a language.
  bool read_words(Words& words, std::string_view key, const Entry& entry) {
    const auto code = std::ranges::find(language_codes, key);
    if (code == language_codes.end()) return false;
    if (const std::string_view problem = text_problem(entry.value); !problem.empty())
      throw std::invalid_argument(std::string(problem));
    for (const WordsPart& part : parts_of(entry.value)) {
      const std::string complaint = part.value ? complaint_about(*part.value) : "";
      if (!complaint.empty()) throw std::invalid_argument(complaint);
    }
    words.in(static_cast<Language>(code - language_codes.begin())) = entry.value;
    return true;
  }

  bool read_head_of(const Entry& entry) {
    if (entry.key == "lesson") {
      lesson_.name = entry.value;
    } else if (entry.key == "place") {
      const double place = read_number(entry.value);
      if (!(place >= 0 && place <= 999)) throw std::invalid_argument("\"place\" is a number from 0 to 999");
      lesson_.place = static_cast<int>(place);
    } else {
      return entry.key.starts_with("title.") && read_words(lesson_.title, entry.key.substr(6), entry);
    }
    return true;
  }

  // A configuration field, as in `attnscope train --set`.
  bool read_run(const Entry& entry) {
    if (!lesson_.run) lesson_.run = Config();
    read_field(*lesson_.run, entry.key, entry.value);
    return true;
  }

  bool read_setting_of(std::vector<Setting>& all, std::vector<std::string>& lit, const Entry& entry) {
    if (entry.key == "lit") return read_anchor(lit, entry);
    const auto kind = std::ranges::find(settings, entry.key);
    if (kind == settings.end()) return false;
    all.push_back(read_setting(static_cast<Setting::Kind>(kind - settings.begin()), entry.value));
    return true;
  }

  static bool read_anchor(std::vector<std::string>& lit, const Entry& entry) {
    if (std::ranges::find(areas, entry.value) == areas.end())
      throw std::invalid_argument(
          fmt::format("there is no anchor \"{}\", allowed: {}", entry.value, fmt::join(areas, ", ")));
    lit.push_back(entry.value);
    return true;
  }

  bool read_prediction(const Entry& entry) {
    Prediction& prediction = lesson_.prediction;
    if (entry.key == "kind") {
      const auto kind = std::ranges::find(kinds, entry.value);
      if (kind == kinds.end())
        throw std::invalid_argument(
            fmt::format("there is no kind \"{}\", allowed: choose, mark, number, order, curve", entry.value));
      prediction.kind = static_cast<PredictionKind>(kind - kinds.begin());
    } else if (entry.key == "from") {
      prediction.from = read_number(entry.value);
    } else if (entry.key == "to") {
      prediction.to = read_number(entry.value);
    } else if (entry.key == "within") {
      prediction.within = read_number(entry.value);
    } else if (entry.key == "value") {
      prediction.value = checked_expression(entry.value);
    } else if (entry.key.starts_with("option.")) {
      return read_option(entry);
    } else if (entry.key.starts_with("across.")) {
      return read_words(prediction.across, entry.key.substr(7), entry);
    } else if (entry.key.starts_with("up.")) {
      return read_words(prediction.up, entry.key.substr(3), entry);
    } else {
      return read_words(prediction.text, entry.key, entry);
    }
    return true;
  }

  // "option.NAME.en", ".fr", ".right", ".value", ".at"
  bool read_option(const Entry& entry) {
    const std::size_t dot = entry.key.rfind('.');
    if (dot <= 7) return false;
    const std::string name = entry.key.substr(7, dot - 7), what = entry.key.substr(dot + 1);
    std::vector<Option>& options = lesson_.prediction.options;
    auto option = std::ranges::find(options, name, &Option::name);
    if (option == options.end()) {
      if (options.size() == most_lesson_entries)
        throw std::invalid_argument(fmt::format("more than {} options", most_lesson_entries));
      option = options.insert(options.end(), Option{.name = name, .text = {}, .right = {}, .value = {}});
    }
    if (what == "right") {
      option->right = read_conditions(entry.value);
    } else if (what == "value") {
      option->value = checked_expression(entry.value);
    } else if (what == "at") {
      option->at = read_number(entry.value);
    } else {
      return read_words(option->text, what, entry);
    }
    return true;
  }

  bool read_step(const Entry& entry) {
    LessonStep& step = lesson_.steps.back();
    if (entry.key == "until") {
      step.until = read_conditions(entry.value);
      return true;
    }
    return read_words(step.text, entry.key, entry) || read_setting_of(step.settings, step.lit, entry);
  }

  bool read_why(const Entry& entry) {
    if (entry.key == "formula") return lesson_.formula = entry.value, true;
    if (entry.key == "source") return lesson_.source = entry.value, true;
    return read_words(lesson_.why, entry.key, entry);
  }

  // ---- required parts

  void need(const Words& words, const std::string& what) {
    if (std::ranges::all_of(words.by_language, &std::string::empty)) complain_(1, fmt::format("{} has no text", what));
  }

  void check_words() {
    need(lesson_.title, "the title");
    need(lesson_.question, "[question]");
    need(lesson_.prediction.text, "[prediction]");
    need(lesson_.found, "[check]");
    need(lesson_.why, "[why]");
    for (const LessonStep& step : lesson_.steps) need(step.text, fmt::format("step {}", step.name));
    if (lesson_.prediction.kind == PredictionKind::curve) {
      need(lesson_.prediction.across, "the curve's horizontal axis");
      need(lesson_.prediction.up, "the curve's vertical axis");
      return;
    }
    for (const Option& option : lesson_.prediction.options) need(option.text, fmt::format("option {}", option.name));
  }

  void check_prediction() {
    const Prediction& prediction = lesson_.prediction;
    using enum PredictionKind;
    const bool of_options = prediction.kind == choose || prediction.kind == order || prediction.kind == curve;
    if (of_options && prediction.options.size() < 2) complain_(1, "[prediction] needs at least two options");
    if (!of_options && !prediction.value) complain_(1, "[prediction] has no \"value\" to compare with");
    if ((prediction.kind == number || prediction.kind == curve) &&
        !(prediction.from < prediction.to && std::isfinite(prediction.to - prediction.from) && prediction.within > 0))
      complain_(1, "[prediction] needs \"from\", a larger \"to\", and \"within\" above 0");
    for (const Option& option : prediction.options) {
      if (prediction.kind == choose && option.right.empty())
        complain_(1, fmt::format("option {} has no condition \"right\"", option.name));
      if ((prediction.kind == order || prediction.kind == curve) && !option.value)
        complain_(1, fmt::format("option {} has no \"value\"", option.name));
    }
  }

  void check_moments() {
    for (const Expression& expression : expressions_of(lesson_)) {
      const std::string& moment = expression.moment;
      if (moment.empty() || moment == "start" || std::ranges::count(lesson_.steps, moment, &LessonStep::name) > 0)
        continue;
      complain_(1, fmt::format("\"{}\" is asked for at \"{}\", but there is no step of that name",
                               expression_text(expression), moment));
    }
  }

  void check_run(const std::vector<Section>& sections) {
    if (!lesson_.run) return;
    try {
      check(*lesson_.run);
    } catch (const ConfigError& error) {
      const auto run = std::ranges::find(sections, "run", &Section::name);
      complain_(run->line, error.what());
    }
  }

  Lesson& lesson_;
  const Complain& complain_;
  std::set<std::string> seen_;  // headings
  std::set<std::string> keys_;  // of the present section
};

}  // namespace

Expression read_expression(std::string_view text) {
  std::vector<std::string> words = words_in(text);
  Expression expression;
  const auto at = std::ranges::find(words, "@");
  if (at != words.end()) {
    if (words.end() - at != 2) throw std::invalid_argument("@ must be followed by the name of one step");
    expression.moment = words.back();
    words.erase(at, words.end());
  }
  if (words.empty()) throw std::invalid_argument("a measure is missing");
  expression.measure = words.front();
  expression.arguments.assign(words.begin() + 1, words.end());
  return expression;
}

LessonRead read_lesson(std::string_view text, const std::string& file) {
  LessonRead read;
  const Complain complain = [&](int line, const std::string& what) {
    read.complaints.push_back(fmt::format("{}:{}: {}", file, line, what));
  };
  if (text.size() > most_lesson_bytes) {
    complain(1, fmt::format("more than {} bytes", most_lesson_bytes));
    return read;
  }
  const std::vector<Section> sections = read_sections(text, complain);
  LessonReader reader(read.lesson, complain);
  for (const Section& section : sections) reader.read(section);
  reader.finish(sections);
  return read;
}

}  // namespace attnscope
