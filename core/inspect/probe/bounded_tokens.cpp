#include "inspect/probe/bounded_tokens.h"

namespace attnscope {
namespace {

constexpr std::size_t max_bytes_per_token = 64;  // SentencePiece's tokens have at most 16 characters

std::string_view bounded_text(std::string_view text, std::size_t room, Keep keep, bool& truncated) {
  // Text that cannot fit is cut before tokenization: SentencePiece takes quadratic time on unknown characters.
  const std::size_t most = room * max_bytes_per_token;
  if (text.size() <= most) return text;
  truncated = true;
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U; };
  std::size_t cut = keep == Keep::beginning ? most : text.size() - most;
  while (cut > 0 && inside_character(cut)) --cut;
  return keep == Keep::beginning ? text.substr(0, cut) : text.substr(cut);
}

}  // namespace

std::vector<Token> bounded_tokens(const Tokenizer& tokenizer, std::string_view text, Side side, std::int64_t room,
                                  Keep keep, bool& truncated) {
  const auto most = static_cast<std::size_t>(room);
  std::vector<Token> tokens = tokenizer.encode(bounded_text(text, most, keep, truncated), side);
  if (tokens.size() <= most) return tokens;
  truncated = true;
  const auto cut = static_cast<std::ptrdiff_t>(keep == Keep::beginning ? most : tokens.size() - most);
  if (keep == Keep::beginning) return {tokens.begin(), tokens.begin() + cut};
  return {tokens.begin() + cut, tokens.end()};
}

std::vector<Token> source_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t room,
                                 bool& truncated) {
  const int opening = tokenizer.opening();
  std::vector<Token> tokens =
      bounded_tokens(tokenizer, text, Side::source, room - (opening >= 0 ? 2 : 1), Keep::beginning, truncated);
  if (opening >= 0) tokens.insert(tokens.begin(), tokenizer.as_token(opening));
  tokens.push_back(tokenizer.as_token(tokenizer.source_end()));
  return tokens;
}

std::vector<Token> prompt_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t context,
                                 bool& truncated) {
  // A line end in front, as in training: written as it is shown.
  constexpr std::string_view line_end = "\u23CE";
  const bool begins_line = tokenizer.special().ends_lines && text.starts_with(line_end);
  if (begins_line) text.remove_prefix(line_end.size());
  std::vector<Token> tokens =
      bounded_tokens(tokenizer, text, Side::source, prompt_room(context) - begins_line, Keep::end, truncated);
  if (begins_line && !truncated) tokens.insert(tokens.begin(), tokenizer.as_token(tokenizer.special().end));
  if (tokenizer.opening() >= 0 && !truncated) tokens.insert(tokens.begin(), tokenizer.as_token(tokenizer.opening()));
  return tokens;
}

}  // namespace attnscope
