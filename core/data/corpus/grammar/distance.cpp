// Agreement across a distance: the verb and the adjective agree with a noun far before them.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 8> persons = {"man",  "woman", "boy",    "girl",
                                                     "king", "queen", "waiter", "waitress"};
constexpr std::array<std::string_view, 6> places = {"garden", "field", "park", "street", "forest", "house"};
// Past tense and participle; the participle agrees with the preceding object and takes -e and -s without other changes.
constexpr std::array<Phrase, 6> deeds = {
    {{"saw", "vu"}, {"found", "trouvé"}, {"bought", "acheté"}, {"sold", "vendu"}, {"lost", "perdu"}, {"hid", "caché"}}};

// Possible qualities of a class of nouns.
struct Topic {
  std::string_view noun_class;
  std::vector<std::string_view> qualities;
};

std::vector<Topic> topics() {
  return {
      {"animal", {"tired", "sick", "wounded", "white", "black", "grey", "small", "beautiful"}},
      {"portable", {"old", "dirty", "expensive", "red", "white", "green", "broken", "heavy"}},
      {"vehicle", {"new", "fast", "red", "blue", "grey", "expensive", "dirty", "old"}},
      {"clothing", {"red", "blue", "black", "clean", "dirty", "expensive", "beautiful", "long"}},
      {"plant", {"white", "green", "tall", "dry", "beautiful", "yellow"}},
  };
}

// A the noun agreed with, P a person, G a place, B another thing, V a deed, Q the quality.
constexpr Phrase templates[] = {
    {"the [A] that the [P] [V] in the [G] [is/are A] [Q]",
     "[le A] que [le P] [a/ont P] [V][e A] dans [le G] [est/sont A] [Q A]"},
    {"the [A] that the [P] [V] [was/were A] very [Q]",
     "[le A] que [le P] [a/ont P] [V][e A] [était/étaient A] très [Q A]"},
    {"the [A] near the [G] [is/are A] [Q]", "[le A] près [du G] [est/sont A] [Q A]"},
    {"the [A] of the [P] [was/were A] [Q]", "[le A] [du P] [était/étaient A] [Q A]"},
    {"the [A] of the [P] in the [G] [is/are A] not [Q]", "[le A] [du P] dans [le G] [n'est/ne sont A] pas [Q A]"},
    {"the [A] behind the [B] [is/are A] [Q]", "[le A] derrière [le B] [est/sont A] [Q A]"},
    {"the [A], and not the [B], [is/are A] [Q]", "[le A], et pas [le B], [est/sont A] [Q A]"},
};

bool graded(const Phrase& text) {
  return text.en.find("very") != std::string_view::npos;
}

}  // namespace

std::vector<Draft> distance_drafts(std::size_t wanted, Random& random) {
  const std::vector<Topic> all_topics = topics();
  std::vector<std::vector<const Noun*>> members;
  for (const Topic& topic : all_topics) members.push_back(noun_class(topic.noun_class));
  std::vector<Draft> drafts;
  for (std::size_t attempt = 0; attempt < 3 * wanted; ++attempt) {
    const Phrase& text = pick(templates, random);
    const std::size_t topic = random.below(all_topics.size());
    const Noun& a = *pick(members[topic], random);
    const Noun& b = *pick(members[topic], random);
    const Noun& person = noun(pick(persons, random));
    const Noun& place = noun(pick(places, random));
    const Phrase& deed = pick(deeds, random);
    const Adjective& quality = adjective(pick(all_topics[topic].qualities, random));
    if (&a == &b || (graded(text) && quality.state == State::fixed)) continue;
    const bool plural = random.below(2) == 0;
    Slots slots;
    slots.noun('A', a, plural).noun('B', b, !plural).noun('P', person, random.below(3) == 0).noun('G', place);
    slots.phrase('V', deed.en, deed.fr).adjective('Q', quality);
    drafts.push_back({.pair = {.source = sentence(slots.english(text.en)),
                               .target = sentence(slots.french(text.fr)),
                               .category = "distance"},
                      .key = fmt::format("distance|{}|{}|{}", text.en, a.en, quality.en)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
