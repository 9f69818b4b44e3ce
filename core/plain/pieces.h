// Pieces of words as SentencePiece writes them.
#pragma once

#include <string_view>

namespace attnscope {

inline constexpr std::string_view word_mark = "\u2581";  // ▁, with which a word begins

// Without the mark, if anything is left then.
inline std::string_view without_mark(std::string_view piece) {
  return piece.starts_with(word_mark) && piece != word_mark ? piece.substr(word_mark.size()) : piece;
}

}  // namespace attnscope
