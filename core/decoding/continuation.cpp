#include "decoding/continuation.h"

#include <algorithm>

namespace attnscope {

std::vector<int> prompt_ids(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<int> ids;
  for (const Token& token : tokenizer.encode(text)) ids.push_back(token.id);
  if (ids.empty()) ids.push_back(Tokenizer::eos_id);
  return ids;
}

std::string decode_lines(const Tokenizer& tokenizer, std::span<const int> ids) {
  std::string text;
  auto begin = ids.begin();
  for (auto end = std::find(begin, ids.end(), Tokenizer::eos_id); end != ids.end();
       end = std::find(begin, ids.end(), Tokenizer::eos_id)) {
    text += tokenizer.decode({begin, end}) + "\n";
    begin = end + 1;
  }
  return text + tokenizer.decode({begin, ids.end()});
}

std::string continued_text(const Tokenizer& tokenizer, std::span<const int> prompt, std::span<const int> ids) {
  std::vector<int> all(prompt.begin(), prompt.end());
  all.insert(all.end(), ids.begin(), ids.end());
  const std::string before = decode_lines(tokenizer, prompt);
  const std::string whole = decode_lines(tokenizer, all);
  return whole.starts_with(before) ? whole.substr(before.size()) : whole;
}

}  // namespace attnscope
