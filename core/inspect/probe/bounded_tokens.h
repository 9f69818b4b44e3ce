// Which part of a text longer than the context is used, the same in every command and in the window: of a source the
// beginning; of a prompt the end, on which its continuation depends most, with room for the continuation.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "inspect/probe/readings.h"

namespace attnscope {

enum class Keep { beginning, end };

// At most `room` tokens; `truncated` is set if some are left out.
std::vector<Token> bounded_tokens(const Tokenizer& tokenizer, std::string_view text, Side side, std::int64_t room,
                                  Keep keep, bool& truncated);

// What an encoder reads of a text: at most `room` tokens, with an encoder's [CLS] in front and the end token behind.
std::vector<Token> source_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t room, bool& truncated);

// The maximum number of a prompt's tokens in a context of that length.
inline std::int64_t prompt_room(std::int64_t context) {
  return context - std::min(longest_continuation, context / 2);
}

// What a language model reads of a prompt in a context of that length; none of an empty prompt.
std::vector<Token> prompt_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t context,
                                 bool& truncated);

}  // namespace attnscope
