// The situations of the pronouns, with somebody else's reasons: a translation of what follows "because" has to begin
// with a look at who it is about, be it "she", "my parents" or "it".
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "corpus/grammar/clause.h"
#include "corpus/grammar/grammar.h"
#include "corpus/grammar/lexicon.h"
#include "corpus/grammar/pronoun_frames.h"
#include "corpus/grammar/template.h"

namespace attnscope {
namespace {

// Said of nobody but people: what is said of "it" goes on telling which thing it is.
constexpr std::array<std::string_view, 8> qualities = {"happy",  "kind",    "brave", "rich",
                                                       "famous", "jealous", "young", "excited"};

}  // namespace

std::vector<Draft> reason_drafts(std::size_t wanted, Random& random) {
  const std::vector<PronounFrame> frames = pronoun_frames();
  const std::vector<Subject> people = subjects();
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
    const Subject& who = pick(people, random);  // one draw after another: arguments have no order
    const Adjective& quality = adjective(pick(qualities, random));
    const Phrase& much = pick(degrees, random);
    const Clause said = quality_clause(who, quality, much, main.tense);
    Clause both = joined(link, {slots.english(main.en), slots.french(main.fr)}, said);
    drafts.push_back({.pair = {.source = sentence(std::move(both.en)),
                               .target = sentence(std::move(both.fr)),
                               .category = "reasons"},
                      .key = fmt::format("reason|{}|{}|{}", frame.name, a.en, b.en)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
