// Regular expressions and texts that split at them, for the tokenizers that tokenizer.json describes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <unicode/regex.h>
#include <memory>

namespace attnscope {

using Pattern = std::shared_ptr<const icu::RegexPattern>;

// Null if the expression is not valid. \s is Unicode's White_Space, as in the tokenizers library; ICU's lacks two
// characters.
Pattern compiled(std::string expression);

// {"Regex": …} or {"String": …} of a step, in which `field` (normalizer, pre_tokenizer) is named if it is not valid.
Pattern pattern_of(const nlohmann::json& step, const char* field);

struct MatchedPart {
  std::string_view text;
  bool matched = false;
};

// The matches of the pattern, and the texts between them; no part is empty.
std::vector<MatchedPart> parts_of(const icu::RegexPattern& pattern, std::string_view text);

// The text with `replacement` instead of every match.
std::string replaced(const icu::RegexPattern& pattern, std::string_view text, std::string_view replacement);

}  // namespace attnscope
