// Everyday sentences: actions, negation, questions, colors, numbers, days.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <vector>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/grammar.h"
#include "data/corpus/grammar/lexicon.h"
#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

// Verbs with their possible objects.
struct Action {
  std::vector<std::string_view> verbs;
  std::vector<std::string_view> classes;
};

std::vector<Action> actions() {
  return {
      {{"see", "watch", "look for", "find", "like", "draw"}, {"animal", "vehicle", "portable", "clothing", "building"}},
      {{"buy", "sell", "have", "want"}, {"vehicle", "portable", "furniture", "instrument"}},
      {{"eat", "prepare", "bring", "like"}, {"food"}},
      {{"lose", "take", "hide", "forget", "bring"}, {"portable", "clothing", "tool"}},
      {{"carry", "open", "close"}, {"container"}},
      {{"wash", "choose"}, {"vehicle", "clothing", "tableware"}},
      {{"repair"}, {"vehicle", "device", "furniture"}},
      {{"visit"}, {"building"}},
  };
}

constexpr std::array<std::string_view, 14> qualities = {"big",    "small", "old",   "new",   "beautiful",
                                                        "red",    "white", "black", "green", "blue",
                                                        "yellow", "grey",  "clean", "dirty"};

// Object groups over the noun A and the quality Q; singular ones first.
struct Group {
  Phrase text;
  std::string_view fr_denied = {};  // the French form after "pas", if different
  bool plural = false;
};

constexpr Group groups[] = {
    {{"the [A]", "[le A]"}},
    {{"[a A]", "[un A]"}, "[de A]"},
    {{"my [A]", "[mon A]"}},
    {{"your [A]", "[votre A]"}},
    {{"this [A]", "[ce A]"}},
    {{"the [Q] [A]", "[le Q A]"}},
    {{"[a Q] [A]", "[un Q A]"}, "[de Q A]"},
    {{"my [Q] [A]", "[mon Q A]"}},
    {{"these [A]", "[ce A]"}, {}, true},
    {{"the [Q] [A]", "[le Q A]"}, {}, true},
    {{"two [A]", "deux [A]"}, {}, true},
    {{"three [A]", "trois [A]"}, {}, true},
    {{"five [A]", "cinq [A]"}, {}, true},
    {{"ten [A]", "dix [A]"}, {}, true},
};

constexpr std::size_t num_singular_groups = 8;

// Plurals of a few classes suffice to learn the rule; the vocabulary stays small.
bool in_plural(std::string_view noun_class) {
  return noun_class == "animal" || noun_class == "vehicle" || noun_class == "portable" || noun_class == "clothing";
}

Tense any_tense(std::string_view verb, Random& random) {
  const bool stative = verb == "have" || verb == "want" || verb == "like";  // "a voulu" is seldom the right translation
  return !stative && random.below(2) == 0 ? Tense::past : Tense::present;
}

Draft action_draft(const std::vector<Action>& all, const std::vector<Subject>& actors, Random& random) {
  const Action& action = pick(all, random);
  const Verb& done = verb(pick(action.verbs, random));
  const std::string_view kind = pick(action.classes, random);
  const std::vector<const Noun*> members = noun_class(kind);
  const Noun& thing = *pick(members, random);
  const Subject& subject = pick(actors, random);
  const Group& group = groups[random.below(in_plural(kind) ? std::size(groups) : num_singular_groups)];
  const Tense tense = any_tense(done.base, random);
  const std::size_t mood_draw = random.below(4);
  const Mood mood = mood_draw < 2 ? Mood::affirmed : mood_draw == 2 ? Mood::denied : Mood::asked;
  const std::vector<Phrase> adjuncts = times(tense);
  const Phrase& time = random.below(2) == 0 ? adjuncts.front() : pick(adjuncts, random);
  const Adjective& quality = adjective(pick(qualities, random));

  Slots slots;
  slots.noun('A', thing, group.plural).adjective('Q', quality);
  const bool changed = mood == Mood::denied && !group.fr_denied.empty();
  const char* end = mood == Mood::asked ? "?" : ".";
  std::string en =
      fmt::format("{} {}{}{}", english_clause(subject, done, tense, mood), slots.english(group.text.en), time.en, end);
  std::string fr = fmt::format("{} {}{}{}", french_clause(subject, done, tense, mood),
                               slots.french(changed ? group.fr_denied : group.text.fr), time.fr, end);
  return {.pair = {.source = sentence(std::move(en)), .target = sentence(std::move(fr)), .category = "basic"},
          .key = fmt::format("basic|{}|{}|{}", subject.en, done.base, thing.en)};
}

// A and B are from the classes named with them.
struct Scene {
  Phrase text;
  std::string_view a_class;
  std::string_view b_class;
};

constexpr Scene scenes[] = {
    {{"there is [a A] in the [B]", "il y a [un A] dans [le B]"}, "animal", "shelter"},
    {{"there is no [A] in the [B]", "il n'y a pas [de A] dans [le B]"}, "animal", "soil"},
    {{"is there [a A] in the [B]?", "est-ce qu'il y a [un A] dans [le B]?"}, "portable", "container"},
    {{"the [A] is in the [B]", "[le A] est dans [le B]"}, "portable", "container"},
    {{"the [A] is on the [B]", "[le A] est sur [le B]"}, "tableware", "furniture"},
    {{"the [A] is not on the [B]", "[le A] n'est pas sur [le B]"}, "portable", "furniture"},
    {{"the [A] is near the [B]", "[le A] est près [du B]"}, "vehicle", "building"},
    {{"where is the [A]?", "où est [le A]?"}, "portable", "building"},
    {{"where is my [A]?", "où est [mon A]?"}, "clothing", "building"},
    {{"the [A] sees the [B]", "[le A] voit [le B]"}, "animal", "vehicle"},
    {{"the [A] is [Q]", "[le A] est [Q A]"}, "vehicle", "building"},
    {{"my [A] is [Q]", "[mon A] est [Q A]"}, "clothing", "building"},
    {{"is your [A] [Q]?", "est-ce que [votre A] est [Q A]?"}, "portable", "building"},
    {{"the [Q] [A] is in the [B]", "[le Q A] est dans [le B]"}, "animal", "shelter"},
    {{"I see [a Q] [A] and [a B]", "je vois [un Q A] et [un B]"}, "animal", "vehicle"},
};

Draft scene_draft(Random& random) {
  const Scene& scene = pick(scenes, random);
  const std::vector<const Noun*> a_members = noun_class(scene.a_class);
  const std::vector<const Noun*> b_members = noun_class(scene.b_class);
  const Noun& a = *pick(a_members, random);
  const Noun& b = *pick(b_members, random);
  const std::string_view quality = pick(qualities, random);
  Slots slots;
  slots.noun('A', a).noun('B', b).adjective('Q', adjective(quality));
  std::string source = sentence(slots.english(scene.text.en));
  std::string key = fmt::format("scene|{}", source);
  return {.pair = {.source = std::move(source), .target = sentence(slots.french(scene.text.fr)), .category = "basic"},
          .key = std::move(key)};
}

}  // namespace

std::vector<Draft> basic_drafts(std::size_t wanted, Random& random) {
  const std::vector<Action> all = actions();
  const std::vector<Subject> actors = subjects();
  std::vector<Draft> drafts;
  while (drafts.size() < 2 * wanted) {
    drafts.push_back(random.below(4) == 0 ? scene_draft(random) : action_draft(all, actors, random));
  }
  return drawn(std::move(drafts), wanted, random);
}

}  // namespace attnscope
