#include "compute/unknown_tokens.h"

#include <algorithm>

#include "commands/say.h"
#include "common/unicode_form.h"

namespace attnscope {

std::int64_t UnknownTokens::add(const std::string& text, const std::vector<Token>& tokens) {
  ++texts_;
  const auto count = std::ranges::count(tokens, true, &Token::unknown);
  if (count == 0) return 0;
  if (count_ == 0) {
    first_text_ = texts_;
    first_ = std::ranges::find(tokens, true, &Token::unknown)->text;
  }
  count_ += count;
  ++texts_with_;
  if (const std::string form = composed(text); !composes_ && form != text)
    composes_ = std::ranges::count(tokenizer_.encode(form), true, &Token::unknown) < count;
  return count;
}

void UnknownTokens::warn() const {
  if (count_ == 0) return;
  say("unknown tokens: {}, in {} of {} texts; the first, in text {}: “{}”{}", count_, texts_with_, texts_, first_text_,
      first_,
      composes_ ? ". Some differ from known text only in Unicode form or kind of space: convert the text with uconv -x "
                  "nfc, or train with corpus.normalize"
                : "");
}

}  // namespace attnscope
