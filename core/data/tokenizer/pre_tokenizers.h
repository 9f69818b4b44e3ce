// The pre-tokenizers of tokenizer.json: they split a text into words.
#pragma once

#include <array>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attnscope {

// Splits a text; the flag is true at the beginning of the whole text.
using PreTokenizer = std::function<std::vector<std::string>(std::string text, bool first)>;

// The function that a step describes; null describes none. Throws TokenizerError naming an unknown step.
PreTokenizer pre_tokenizer_of(const nlohmann::json& step);

// The letter that stands for each byte in GPT-2's vocabulary: the 68 unprintable bytes become U+0100, U+0101 …
const std::array<std::string, 256>& byte_letters();

}  // namespace attnscope
