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
constexpr std::array<Phrase, 4> degrees = {{{"too ", "trop "}, {"very ", "très "}, {"so ", "si "}, {"", ""}}};

// "to be" of a person, in the order of Person.
struct Being {
  std::string_view present, past;
};

constexpr std::array<Being, 5> english = {
    {{"am", "was"}, {"is", "was"}, {"are", "were"}, {"are", "were"}, {"are", "were"}}};
constexpr std::array<Being, 5> french = {
    {{"suis", "étais"}, {"est", "était"}, {"sommes", "étions"}, {"êtes", "étiez"}, {"sont", "étaient"}}};

std::string_view be(const std::array<Being, 5>& forms, Person person, Tense tense) {
  const Being& form = forms.at(static_cast<std::size_t>(person));
  return tense == Tense::past ? form.past : form.present;
}

Clause said_of(const Subject& subject, Tense tense, Random& random) {
  const Adjective& quality = adjective(pick(qualities, random));
  const Phrase& degree = pick(degrees, random);
  const bool plural = subject.person == Person::we || subject.person == Person::they;
  const std::string est = fmt::format("{} {}{}", be(french, subject.person, tense), degree.fr,
                                      agreed(quality, {.gender = subject.gender, .plural = plural}));
  return {fmt::format("{} {} {}{}", subject.en, be(english, subject.person, tense), degree.en, quality.en),
          subject.person == Person::i ? elided("je", est) : fmt::format("{} {}", subject.fr, est)};
}

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
    Clause both = joined(link, {slots.english(main.en), slots.french(main.fr)},
                         said_of(pick(people, random), main.tense, random));
    drafts.push_back({.pair = {.source = sentence(std::move(both.en)),
                               .target = sentence(std::move(both.fr)),
                               .category = "reasons"},
                      .key = fmt::format("reason|{}|{}|{}", frame.name, a.en, b.en)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
