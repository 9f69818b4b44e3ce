#include "data/tokenizer/patterns.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "data/tokenizer/family_schemes.h"

namespace attnscope {

Pattern compiled(std::string expression) {
  for (const auto& [theirs, own] :
       {std::pair(R"(\s)", R"(\p{White_Space})"), std::pair(R"(\S)", R"(\P{White_Space})")}) {
    for (std::size_t at = 0; (at = expression.find(theirs, at)) != std::string::npos;
         at += std::string_view(own).size())
      expression.replace(at, 2, own);
  }
  UErrorCode error = U_ZERO_ERROR;
  Pattern pattern(icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(expression), 0, error));
  return U_SUCCESS(error) ? pattern : nullptr;
}

Pattern pattern_of(const nlohmann::json& step, const char* field) {
  const nlohmann::json& given = json_member(step, "pattern");
  const nlohmann::json &regex = json_member(given, "Regex"), &text = json_member(given, "String");
  UErrorCode error = U_ZERO_ERROR;
  Pattern pattern;
  if (regex.is_string()) pattern = compiled(regex.get<std::string>());
  if (text.is_string() && !text.get<std::string>().empty())
    pattern.reset(icu::RegexPattern::compile(icu::UnicodeString::fromUTF8(text.get<std::string>()), UREGEX_LITERAL,
                                             error));
  if (!pattern) refuse_json(field, step, "a pattern that is a valid Regex or a String");
  return pattern;
}

std::vector<MatchedPart> parts_of(const icu::RegexPattern& pattern, std::string_view text) {
  UErrorCode error = U_ZERO_ERROR;
  UText* const utf8 = utext_openUTF8(nullptr, text.data(), static_cast<std::int64_t>(text.size()), &error);
  const std::unique_ptr<UText, UText* (*)(UText*)> closes(utf8, utext_close);
  const std::unique_ptr<icu::RegexMatcher> matcher(pattern.matcher(error));
  std::vector<MatchedPart> parts;
  std::size_t begin = 0;
  const auto add_until = [&](std::size_t end, bool matched) {
    if (end > begin) parts.push_back({text.substr(begin, end - begin), matched});
    begin = end;
  };
  if (U_SUCCESS(error)) matcher->reset(utf8);
  while (U_SUCCESS(error) && matcher->find(error) && U_SUCCESS(error)) {
    add_until(static_cast<std::size_t>(matcher->start64(error)), false);
    add_until(static_cast<std::size_t>(matcher->end64(error)), true);
  }
  add_until(text.size(), false);
  return parts;
}

std::string replaced(const icu::RegexPattern& pattern, std::string_view text, std::string_view replacement) {
  std::string result;
  for (const MatchedPart& part : parts_of(pattern, text)) result += part.matched ? replacement : part.text;
  return result;
}

}  // namespace attnscope
