// Unicode letters of a UTF-8 text, for the tokenizers that normalize and split text by classes of letters.
#pragma once

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Returns the letter at `at` and advances `at`; negative: invalid UTF-8.
inline UChar32 next_letter(std::string_view text, std::size_t& at) {
  UChar32 c = 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"  // of the macro
  U8_NEXT(text.data(), at, text.size(), c);
#pragma GCC diagnostic pop
  return c;
}

// Calls visit(letter, its bytes) for each letter of the text.
template <typename Visit>
void for_each_letter(std::string_view text, Visit visit) {
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    const UChar32 c = next_letter(text, end);
    visit(c, text.substr(begin, end - begin));
  }
}

inline bool is_white(UChar32 c) {
  return u_hasBinaryProperty(c, UCHAR_WHITE_SPACE) != 0;
}

// Canonical decomposition (NFD), or compatibility decomposition (NFKD).
std::string decomposed(std::string_view text, bool compatibility);

// Letter by letter: Σ at the end of a word becomes σ.
std::string lowercase(std::string_view text);

// Without letters of these general categories (U_GC_…_MASK).
std::string without(std::string_view text, std::uint32_t categories);

// The grapheme clusters of the text (Unicode Annex 29).
std::vector<std::string_view> graphemes(std::string_view text);

}  // namespace attnscope
