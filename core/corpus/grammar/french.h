// French spelling rules that depend on the neighbouring word.
#pragma once

#include <string>
#include <string_view>

#include "corpus/grammar/lexicon.h"

namespace attnscope {

// How a noun or adjective agrees.
struct Agreement {
  char gender = 'm';
  bool plural = false;
};

// True if le, de, que… lose their vowel before `word`. `aspirated` is for nouns with h aspiré.
bool elides(std::string_view word, bool aspirated = false);

// "d'" or "de " before `text`, and so on for every short word that ends in a vowel: de, que, ne, je, se.
std::string elided(std::string_view word, std::string_view text);

// The adjective's form; `following` is the word after it, "" if none (un bel arbre).
std::string agreed(const Adjective& adjective, Agreement agreement, std::string_view following = {});

// The determiner with its space or apostrophe, to be put before `following`: kind is le, un, du, au, ce, mon, son,
// votre, notre, aucun or de. Throws std::logic_error for any other.
std::string determiner(std::string_view kind, Agreement agreement, bool vowel_follows);

}  // namespace attnscope
