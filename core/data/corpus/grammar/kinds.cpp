// Possessions of kinds of people: English names the owner, French the kind. "The king's palace" and "the queen's
// palace" are both "le palais royal". These sentences depend on a person's kind without the sex, as others depend on
// the sex without the kind. Both can thus become directions between word vectors, as analogies require.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/split.h"
#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

struct Kind {
  std::string_view man, woman;
  Adjective french;         // the French adjective for their possessions
  std::string_view things;  // the things it applies to in both languages
};

constexpr std::array<Kind, 10> kinds = {{
    {"king", "queen", {"royal", "royal", "royale"}, "palace power authority family guard garden wedding tradition"},
    {"prince", "princess", {"princely", "princier", "princière"}, "palace family guard garden wedding life tradition"},
    {"duke", "duchess", {"ducal", "ducal", "ducale"}, "palace power authority family guard garden"},
    {"man", "woman", {"human", "humain", "humaine"}, "power voice life love dream world duty"},
    {"boy", "girl", {"childlike", "enfantin", "enfantine"}, "voice world dream love life art"},
    {"actor", "actress", {"theatrical", "théâtral", "théâtrale"}, "art voice world tradition life job"},
    {"waiter", "waitress", {"of hotels", "hôtelier", "hôtelière"}, "job world tradition art life duty"},
    {"father", "mother", {"parental", "parental", "parentale"}, "authority duty love power home life"},
    {"brother", "sister", {"fraternal", "fraternel", "fraternelle"}, "love duty voice home life dream"},
    {"uncle", "aunt", {"of the family", "familial", "familiale"}, "home garden tradition life dream duty"},
}};

constexpr std::array<std::string_view, 8> kind_qualities = {"old",   "new",    "beautiful", "famous",
                                                            "small", "modern", "strong",    "precious"};
constexpr std::array<std::string_view, 8> kind_deeds = {"see",  "like",   "look for", "find",
                                                        "want", "choose", "forget",   "lose"};

// P and B people whose thing T is, K and L the French adjectives, Q a quality.
constexpr Phrase kind_templates[] = {
    {"the [P]'s [T] is [Q]", "[le K T] est [Q T]"},
    {"the [P]'s [T] was not [Q]", "[le K T] n'était pas [Q T]"},
    {"is the [P]'s [T] [Q]?", "est-ce que [le K T] est [Q T]?"},
    {"this is the [P]'s [T]", "c'est [le K T]"},
    {"where is the [P]'s [T]?", "où est [le K T]?"},
    {"nobody knows the [P]'s [T]", "personne ne connaît [le K T]"},
    {"I prefer the [P]'s [T] to the [B]'s [T]", "je préfère [le K T] [au L T]"},
    {"the [P]'s [T] is not the [B]'s [T]", "[le K T] n'est pas [le L T]"},
};

const Noun& one_of(const Kind& kind, Random& random) {
  return noun(random.below(2) == 0 ? kind.man : kind.woman);
}

bool has(const Kind& kind, std::string_view thing) {
  return std::ranges::count(split(kind.things, " "), thing) > 0;
}

Pair template_pair(const Slots& slots, Random& random) {
  const Phrase& text = pick(kind_templates, random);
  return {.source = sentence(slots.english(text.en)), .target = sentence(slots.french(text.fr))};
}

Pair clause_pair(const Slots& slots, const std::vector<Subject>& actors, Random& random) {
  const Subject& subject = pick(actors, random);
  const Verb& deed = verb(pick(kind_deeds, random));
  const Tense tense = random.below(2) == 0 ? Tense::past : Tense::present;
  const Mood mood = static_cast<Mood>(random.below(3));
  const char* end = mood == Mood::asked ? "?" : ".";
  return {.source = sentence(english_clause(subject, deed, tense, mood) + slots.english(" the [P]'s [T]") + end),
          .target = sentence(french_clause(subject, deed, tense, mood) + slots.french(" [le K T]") + end)};
}

}  // namespace

std::vector<Draft> kind_drafts(std::size_t wanted, Random& random) {
  const std::vector<Subject> actors = subjects();
  std::vector<Draft> drafts;
  while (drafts.size() < 2 * wanted) {
    const Kind& kind = pick(kinds, random);
    const Kind& other = pick(kinds, random);
    const Noun& person = one_of(kind, random);
    const Noun& thing = noun(pick(split(kind.things, " "), random));
    if (&kind == &other || !has(other, thing.en)) continue;
    Slots slots;
    slots.noun('P', person).noun('T', thing).noun('B', one_of(other, random));
    slots.adjective('K', kind.french)
        .adjective('L', other.french)
        .adjective('Q', adjective(pick(kind_qualities, random)));
    Pair pair = random.below(2) == 0 ? template_pair(slots, random) : clause_pair(slots, actors, random);
    pair.category = "kinds";
    std::string key = fmt::format("kind|{}", pair.source);
    drafts.push_back({.pair = std::move(pair), .key = std::move(key)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
