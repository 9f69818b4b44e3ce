// What the built-in English–French corpus knows of its words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"
#include "plain/embeddings.h"

namespace attnscope {

// The corpus that all this is about.
bool is_english_french(const CorpusConfig& config);

// Of an English or French word as it is written; all unknown for a word it does not know.
WordProperties properties_of(std::string_view word);

// Man and woman of a kind: "king", "queen".
struct GenderPair {
  std::string_view man;
  std::string_view woman;
};
std::span<const GenderPair> gender_pairs();

// ---- words with more than one sense

// The English words that have several, "it" among them.
std::vector<std::string_view> ambiguous_words();

// Names of the senses of an English word, as their translations are called: "banque", "rive"; none: it has but one.
std::vector<std::string> senses_of(std::string_view word);

// Which of them it has in this pair, told by the translation; −1: that does not tell.
int sense_in(std::string_view word, const Pair& pair);

}  // namespace attnscope
