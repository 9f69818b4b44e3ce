// Prompts and what a language model writes after them: text in which </s> is a line's end.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace attnscope {

// At least one id: nothing typed begins where a line has ended.
std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text);

// With "\n" where the ids have </s>.
std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids);

// What `ids` add to the text of the prompt, as it would read on after it: a piece alone does not tell whether it begins
// a word.
std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids);

}  // namespace attnscope
