// The lexicon of the built-in grammar: nouns, adjectives and classes of nouns, English and French.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Empty plurals follow the rule of their language.
struct Noun {
  std::string_view en;
  std::string_view fr;
  char gender = 'm';  // of the French noun: 'm' or 'f'
  std::string_view en_plural = {};
  std::string_view fr_plural = {};
  bool aspirated = false;  // h aspiré: la hache, no elision
};

enum class Order { after, before };          // une voiture rouge, une grande voiture
enum class State { quality, fixed, avoir };  // too wide; broken (no degree); il avait faim

// French forms: masculine and feminine singular; empty plurals follow the rule.
struct Adjective {
  std::string_view en;
  std::string_view m;
  std::string_view f;
  Order order = Order::after;
  State state = State::quality;
  std::string_view m_before_vowel = {};  // un bel arbre
};

// An expression that is translated as a whole.
struct Phrase {
  std::string_view en;
  std::string_view fr;
};

// Degrees of a quality; the last one is empty.
inline constexpr std::array<Phrase, 4> degrees = {{{"too", "trop"}, {"very", "très"}, {"so", "si"}, {"", ""}}};

// "too wide"; "wide" if the degree is empty.
std::string with_degree(std::string_view degree, std::string_view quality);

// All throw std::logic_error for a word that is not in the lexicon: an error in the grammar itself.
const Noun& noun(std::string_view english);
const Adjective& adjective(std::string_view english);
const Phrase& degree(std::string_view english);

// All nouns.
const std::vector<Noun>& nouns();
const std::vector<Adjective>& adjectives();

// A class of nouns that fit the same slot, half of them masculine and half feminine in French.
std::vector<const Noun*> noun_class(std::string_view name);
std::vector<std::string_view> noun_class_names();

std::string english_plural(const Noun& noun);
std::string french_plural(const Noun& noun);

}  // namespace attnscope
