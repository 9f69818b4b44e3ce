// Counts the tokens that the vocabulary does not cover, for the warning of a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

class UnknownTokens {
 public:
  explicit UnknownTokens(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Adds a text, of which these are the tokens, and returns how many of them are unknown.
  std::int64_t add(const std::string& text, const std::vector<Token>& tokens);
  void add(const std::string& text, Side side) { add(text, tokenizer_.encode(text, side)); }

  std::int64_t count() const { return count_; }
  void warn() const;  // on stderr, if there are any

 private:
  const Tokenizer& tokenizer_;
  std::int64_t texts_ = 0, count_ = 0, texts_with_ = 0;
  std::int64_t first_text_ = 0;
  std::string first_;      // the first unknown token
  bool composes_ = false;  // some would be known in the composed form
};

}  // namespace attnscope
