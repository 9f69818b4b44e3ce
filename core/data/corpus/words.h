// Lexical properties of the words of the built-in English–French corpus.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/corpus.h"
#include "messages/embeddings.h"

namespace attnscope {

// Returns true for the corpus described here.
bool is_english_french(const CorpusConfig& config);

// For an English or French word as written; all fields are unknown for an unknown word.
WordProperties properties_of(std::string_view word);

// A man and a woman of one kind: "king", "queen".
struct GenderPair {
  std::string_view man;
  std::string_view woman;
};
std::span<const GenderPair> gender_pairs();

// ---- words with more than one sense

// The English words with several senses, including "it".
std::vector<std::string_view> ambiguous_words();

// The names of an English word's senses, after their translations: "banque", "rive"; empty: it has only one.
std::vector<std::string> senses_of(std::string_view word);

// The index of its sense in this pair, derived from the translation; −1: undecided.
int sense_in(std::string_view word, const Pair& pair);

}  // namespace attnscope
