// The situations of the pronouns, with other reasons. In some, the reason is about somebody else: the translation after
// "because" depends on the subject, be it "she", "my parents" or "it". In others "it" is impersonal: its predicate
// decides whether it refers to anything.
#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/pronoun_frames.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

// Said only of people: the predicates of "it" still decide its antecedent.
constexpr std::array<std::string_view, 8> reason_qualities = {"happy",  "kind",    "brave", "rich",
                                                              "famous", "jealous", "young", "excited"};

// Here "it" is impersonal, and the rest of the clause decides between French il and c'.
struct Circumstance {
  Phrase present, past;
};

constexpr Circumstance circumstances[] = {
    {{"it is late", "il est tard"}, {"it was late", "il était tard"}},
    {{"it is early", "il est tôt"}, {"it was early", "il était tôt"}},
    {{"it is noon", "il est midi"}, {"it was noon", "il était midi"}},
    {{"it is raining", "il pleut"}, {"it was raining", "il pleuvait"}},
    {{"it is snowing", "il neige"}, {"it was snowing", "il neigeait"}},
    {{"it is hot today", "il fait chaud aujourd'hui"}, {"it was hot that day", "il faisait chaud ce jour-là"}},
    {{"it is Sunday", "c'est dimanche"}, {"it was Sunday", "c'était dimanche"}},
    {{"it is Monday", "c'est lundi"}, {"it was Monday", "c'était lundi"}},
    {{"it is winter", "c'est l'hiver"}, {"it was winter", "c'était l'hiver"}},
    {{"it is forbidden", "c'est interdit"}, {"it was forbidden", "c'était interdit"}},
    {{"it is impossible", "c'est impossible"}, {"it was impossible", "c'était impossible"}},
    {{"it is the rule", "c'est la règle"}, {"it was the rule", "c'était la règle"}},
    {{"it is a game", "c'est un jeu"}, {"it was a game", "c'était un jeu"}},
    {{"it is a mistake", "c'est une erreur"}, {"it was a mistake", "c'était une erreur"}},
};

// Generates `wanted` sentences whose reason is say(main clause). Sentences of a kind about the same two things have the
// same key.
template <typename Say>
std::vector<Draft> with_reasons(std::string_view kind, std::size_t wanted, Random& random, Say say) {
  const std::vector<PronounFrame> frames = pronoun_frames();
  std::vector<Draft> drafts;
  while (drafts.size() < 2 * wanted) {
    const PronounFrame& frame = pick(frames, random);
    const std::vector<const Noun*> a_nouns = noun_class(frame.a_class), b_nouns = noun_class(frame.b_class);
    const Noun& a = *pick(a_nouns, random);
    const Noun& b = *pick(b_nouns, random);
    const MainClause& main = pick(frame.mains, random);
    const Link link = pick(frame.links, random);
    if (link == Link::so || &a == &b || is_famous(a.en, b.en)) continue;
    Slots slots;
    slots.noun('A', a).noun('B', b);
    const Reason reason = drawn_reason(link, random);
    Clause both = joined(link, {slots.english(main.en), slots.french(main.fr)}, say(main), reason);
    drafts.push_back({.pair = {.source = sentence(std::move(both.en)),
                               .target = sentence(std::move(both.fr)),
                               .category = fmt::format("{}s", kind)},
                      .key = fmt::format("{}|{}|{}|{}", kind, frame.name, a.en, b.en)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace

std::vector<Draft> reason_drafts(std::size_t wanted, Random& random) {
  const std::vector<Subject> people = subjects();
  return with_reasons("reason", wanted, random, [&](const MainClause& main) {
    const Subject& who = pick(people, random);  // drawn separately: arguments have no evaluation order
    const Adjective& quality = adjective(pick(reason_qualities, random));
    const Phrase& much = pick(degrees, random);
    return quality_clause(who, quality, much, main.tense);
  });
}

std::vector<Draft> circumstance_drafts(std::size_t wanted, Random& random) {
  return with_reasons("circumstance", wanted, random, [&](const MainClause& main) {
    const Circumstance& each = pick(circumstances, random);
    const Phrase& said = main.tense == Tense::present ? each.present : each.past;
    return Clause{std::string(said.en), std::string(said.fr)};
  });
}

}  // namespace attnscope
