// Verdicts of guests, labeled as praise, complaint or mixed. A bag of words does not suffice: "not cold but fresh" and
// "not fresh but cold" have the same words.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "data/corpus/draft.h"
#include "data/corpus/random.h"

namespace attnscope {
namespace {

constexpr std::size_t num_verdicts = 20000;

constexpr std::array<std::string_view, 30> things = {
    "soup",   "bread", "coffee", "tea",    "cake",     "fish",    "salad", "cheese", "dessert", "menu",
    "room",   "bed",   "view",   "garden", "terrace",  "kitchen", "lobby", "pool",   "beach",   "street",
    "waiter", "cook",  "guide",  "driver", "landlady", "porter",  "film",  "play",   "concert", "evening"};

constexpr std::array<std::string_view, 16> good = {
    "good",      "lovely",   "pleasant", "wonderful", "excellent", "fine", "charming",  "perfect",
    "beautiful", "splendid", "decent",   "superb",    "great",     "nice", "memorable", "delightful"};
constexpr std::array<std::string_view, 16> bad = {"bad",    "awful",   "dreadful", "terrible", "poor",   "dull",
                                                  "boring", "dismal",  "horrid",   "shabby",   "dreary", "mediocre",
                                                  "ugly",   "tedious", "pathetic", "lousy"};

enum class Says { as_first, against_first, as_second, both };

// {s} and {t} are things, {a} a quality, {b} one of the opposite kind.
struct Form {
  const char* text;
  Says says;
};

constexpr std::array forms = {
    Form{"the {s} was {a}", Says::as_first},
    Form{"we found the {s} {a}", Says::as_first},
    Form{"the {s} was not {a}", Says::against_first},
    Form{"nobody could call the {s} {a}", Says::against_first},
    Form{"the {s} was anything but {a}", Says::against_first},
    Form{"it is not true that the {s} was not {a}", Says::as_first},
    Form{"the {s} was not {a} but {b}", Says::as_second},
    Form{"the {s} was {a} , not {b}", Says::as_first},
    Form{"we thought the {s} would be {a} , but it was {b}", Says::as_second},
    Form{"the {s} that they had called {a} was {b}", Says::as_second},
    Form{"the {s} was {a} , but the {t} was {b}", Says::both},
    Form{"the {s} was {a} , and the {t} was not {b}", Says::as_first},
    Form{"the {t} was not {a} , and the {s} was not {b}", Says::both},
};

std::string verdict(Says says, bool first_is_good) {
  if (says == Says::both) return "mixed";
  return (says == Says::as_first) == first_is_good ? "praise" : "complaint";
}

template <std::size_t N>
std::string_view drawn(Random& random, const std::array<std::string_view, N>& words) {
  return words[random.below(N)];
}

// A key of the words in the text: the same words in another order stay in the same part of the split.
std::string key_of(std::string_view form, std::string_view thing, std::string_view other, std::string_view first,
                   std::string_view second) {
  std::vector<std::string_view> words = {thing, first};
  if (form.find("{t}") != std::string_view::npos) words.push_back(other);
  if (form.find("{b}") != std::string_view::npos) words.push_back(second);
  std::ranges::sort(words);
  return fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

std::vector<Draft> verdict_drafts(std::int64_t seed) {
  Random random(seed);
  std::vector<Draft> drafts;
  std::unordered_set<std::string> texts;
  while (drafts.size() < num_verdicts) {
    const Form& form = forms[random.below(forms.size())];
    const bool first_is_good = random.below(2) == 0;
    const std::string_view thing = drawn(random, things), other = drawn(random, things);
    std::string_view praise = drawn(random, good), blame = drawn(random, bad);
    const std::string_view first = first_is_good ? praise : blame, second = first_is_good ? blame : praise;
    const auto text = fmt::format(fmt::runtime(form.text), fmt::arg("s", thing), fmt::arg("t", other),
                                  fmt::arg("a", first), fmt::arg("b", second));
    if (thing == other || !texts.insert(text).second) continue;
    drafts.push_back({.pair = {.source = text, .target = verdict(form.says, first_is_good)},
                      .key = key_of(form.text, thing, other, first, second)});
  }
  return drafts;
}

}  // namespace attnscope
