// Kings and queens, men and women: the same sentences for both, and possessives.
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

constexpr std::array<std::string_view, 14> person_nouns = {"king",    "queen",   "prince", "princess", "duke",
                                                           "duchess", "man",     "woman",  "boy",      "girl",
                                                           "actor",   "actress", "waiter", "waitress"};
constexpr std::array<std::string_view, 6> relatives = {"father", "mother", "brother", "sister", "uncle", "aunt"};
constexpr std::array<std::string_view, 15> belongings = {"crown", "horse",  "dog",   "sword", "hat",
                                                         "house", "letter", "book",  "car",   "key",
                                                         "coat",  "cat",    "phone", "bag",   "clock"};
constexpr std::array<std::string_view, 12> person_qualities = {"tired", "happy",   "sad",  "rich", "famous", "jealous",
                                                               "young", "patient", "sick", "old",  "brave",  "kind"};

// A and B people, C a belonging, Q a quality, R a relative of A's sex.
constexpr Phrase person_templates[] = {
    {"the [A] is [Q]", "[le A] est [Q A]"},
    {"the [A] was not [Q]", "[le A] n'était pas [Q A]"},
    {"the [A] is very [Q]", "[le A] est très [Q A]"},
    {"is the [A] [Q]?", "est-ce que [le A] est [Q A]?"},
    {"the [A] is [Q] and the [B] too", "[le A] est [Q A] et [le B] aussi"},
    {"the [A] is more [Q] than the [B]", "[le A] est plus [Q A] que [le B]"},
    {"the [A] was a [Q] [man|woman A]", "[le A] était [un homme|une femme A] [Q A]"},
    {"the [A] lost [his|her A] [C]", "[le A] a perdu [son C]"},
    {"the [A] is looking for [his|her A] [C]", "[le A] cherche [son C]"},
    {"the [A] sold [his|her A] [C] to the [B]", "[le A] a vendu [son C] [au B]"},
    {"the [A] gave [his|her A] [C] to the [B]", "[le A] a donné [son C] [au B]"},
    {"the [B] found the [C] of the [A]", "[le B] a trouvé [le C] [du A]"},
    {"the [A] loves the [B]", "[le A] aime [le B]"},
    {"the [A] speaks to the [B]", "[le A] parle [au B]"},
    {"the [A] is the [R] of the [B]", "[le A] est [le R] [du B]"},
    {"the [A] and [his|her A] [R] are here", "[le A] et [son R] sont ici"},
    {"the [A] is [Q] because [he|she A] worked a lot", "[le A] est [Q A] parce qu'[il A] a beaucoup travaillé"},
    {"the [A] says that [he|she A] is [Q]", "[le A] dit qu'[il A] est [Q A]"},
    {"the [A] is not here because [he|she A] lost [his|her A] [C]",
     "[le A] n'est pas ici parce qu'[il A] a perdu [son C]"},
};

bool uses(std::string_view text, char slot) {
  return text.find(fmt::format("{}]", slot)) != std::string_view::npos;
}

bool fits(const Phrase& text, std::string_view quality) {
  const bool before_noun = text.en.find("a [Q] [man") != std::string_view::npos;
  if (before_noun) return adjective(quality).order == Order::after;
  const bool compared = text.en.find("more") != std::string_view::npos;
  const bool short_word = quality != "tired" && quality != "famous" && quality != "jealous" && quality != "patient";
  return !compared || !short_word;  // "happier", not "more happy"
}

}  // namespace

std::vector<Draft> people_drafts(std::size_t wanted, Random& random) {
  std::vector<Draft> drafts;
  for (std::size_t attempt = 0; attempt < 4 * wanted; ++attempt) {
    const Phrase& text = pick(person_templates, random);
    const Noun& a = noun(pick(person_nouns, random));
    const Noun& b = noun(pick(person_nouns, random));
    const Noun& belonging = noun(pick(belongings, random));
    const Noun& relative = noun(pick(relatives, random));
    const std::string_view quality = pick(person_qualities, random);
    if (&a == &b || !fits(text, quality)) continue;
    if (uses(text.en, 'R') && text.en.find("is the [R]") != std::string_view::npos && relative.gender != a.gender)
      continue;
    Slots slots;
    slots.noun('A', a).noun('B', b).noun('C', belonging).noun('R', relative).adjective('Q', adjective(quality));
    std::string key = fmt::format("people|{}|{}", text.en, a.en);
    if (uses(text.en, 'B')) key += b.en;
    if (uses(text.en, 'C')) key += belonging.en;
    if (uses(text.en, 'Q')) key += quality;
    if (uses(text.en, 'R')) key += relative.en;
    drafts.push_back({.pair = {.source = sentence(slots.english(text.en)),
                               .target = sentence(slots.french(text.fr)),
                               .category = "royalty"},
                      .key = std::move(key)});
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
