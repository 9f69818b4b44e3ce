// Sentence templates: text with slots in brackets, filled consistently in English and French.
//
// English  [A] the noun, [a A] a or an + noun, [is/are A] by number, [Q] an adjective or phrase.
// French   [A] the noun, [le A] [un A] [du A] [au A] [ce A] [mon A] [son A] [votre A] [notre A] [de A] with its
//          determiner, [il A] il/elle/ils/elles, [e A] the participle's ending, [beau|belle A] by gender,
//          [est/sont A] by number, [Q A] the adjective Q agreed with A, [le Q A] determiner, adjective and noun in
//          the right order, [de X] [que X] [ne X] elided before a phrase.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "data/corpus/grammar/lexicon.h"

namespace attnscope {

// ---- French spelling rules that depend on the neighboring word

// Gender and number for agreement.
struct Agreement {
  char gender = 'm';
  bool plural = false;
};

// Returns true if le, de, que… lose their vowel before `word`. `aspirated` is for nouns with h aspiré.
bool elides(std::string_view word, bool aspirated = false);

// "d'" or "de " before `text`; likewise for every short word that ends in a vowel: de, que, ne, je, se.
std::string elided(std::string_view word, std::string_view text);

// The adjective's form; `following` is the next word, "" if there is none (un bel arbre).
std::string agreed(const Adjective& adjective, Agreement agreement, std::string_view following = {});

// The determiner with its space or apostrophe, for insertion before the next word: kind is le, un, du, au, ce, mon,
// son, votre, notre, aucun or de. Throws std::logic_error for any other.
std::string determiner(std::string_view kind, Agreement agreement, bool vowel_follows);

// ---- sentences

// The contents of the slots, by capital letter. The words must outlive it.
class Slots {
 public:
  Slots& noun(char slot, const Noun& noun, bool plural = false);
  Slots& attribute(char slot,
                   const Adjective& adjective);  // of the noun in the slot, in every occurrence: the tired animal
  Slots& adjective(char slot, const Adjective& adjective);
  Slots& phrase(char slot, std::string_view english, std::string_view french);

  // Both throw std::logic_error for an empty or unsuitable slot: an error in the grammar itself.
  std::string english(std::string_view text) const;
  std::string french(std::string_view text) const;

 private:
  struct Filling {
    const Noun* noun = nullptr;
    const Adjective* adjective = nullptr;
    std::string english = {};
    std::string french = {};
    Agreement agreement = {};
  };
  Slots& fill(char slot, Filling filling);
  const Filling& at(char slot) const;
  std::string english_slot(std::string_view content) const;
  std::string french_slot(std::string_view content) const;
  std::string french_group(std::string_view kind, const Adjective* adjective, const Filling& noun) const;

  std::array<Filling, 26> fillings_;
};

// Capitalizes the start, and adds a full stop unless the text ends in one, or in "?" or "!".
std::string sentence(std::string text);

}  // namespace attnscope
