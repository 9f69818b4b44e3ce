#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

struct Token {
  int id = 0;
  std::string text;      // readable; the start of a word is marked with "▁", as SentencePiece does
  bool unknown = false;  // not in the vocabulary: the model cannot distinguish such tokens
  std::string raw = {};  // a byte-level vocabulary's spelling if it differs: "Ã©" for "é"; history files omit it
  bool operator==(const Token&) const = default;
};

inline std::vector<std::string> texts_of(std::span<const Token> tokens) {
  std::vector<std::string> texts;
  for (const Token& token : tokens) texts.push_back(token.text);
  return texts;
}

inline std::vector<int> ids_of(std::span<const Token> tokens) {
  std::vector<int> ids;
  for (const Token& token : tokens) ids.push_back(token.id);
  return ids;
}

inline constexpr std::string_view word_mark = "\u2581";  // ▁, the start of a word

// Removes the mark unless nothing else is left.
inline std::string_view without_mark(std::string_view token) {
  return token.starts_with(word_mark) && token != word_mark ? token.substr(word_mark.size()) : token;
}

}  // namespace attnscope
