#include "data/corpus/grammar/clause.h"

#include <fmt/format.h>

#include <stdexcept>

#include "data/corpus/grammar/template.h"

namespace attnscope {
namespace {

constexpr Verb verb_table[] = {
    {"see", "sees", "saw", {"vois", "voit", "voyons", "voyez", "voient"}, "vu"},
    {"watch", "watches", "watched", {"regarde", "regarde", "regardons", "regardez", "regardent"}, "regardé"},
    {"look for", "looks for", "looked for", {"cherche", "cherche", "cherchons", "cherchez", "cherchent"}, "cherché"},
    {"find", "finds", "found", {"trouve", "trouve", "trouvons", "trouvez", "trouvent"}, "trouvé"},
    {"buy", "buys", "bought", {"achète", "achète", "achetons", "achetez", "achètent"}, "acheté"},
    {"sell", "sells", "sold", {"vends", "vend", "vendons", "vendez", "vendent"}, "vendu"},
    {"like", "likes", "liked", {"aime", "aime", "aimons", "aimez", "aiment"}, "aimé"},
    {"eat", "eats", "ate", {"mange", "mange", "mangeons", "mangez", "mangent"}, "mangé"},
    {"prepare", "prepares", "prepared", {"prépare", "prépare", "préparons", "préparez", "préparent"}, "préparé"},
    {"bring", "brings", "brought", {"apporte", "apporte", "apportons", "apportez", "apportent"}, "apporté"},
    {"carry", "carries", "carried", {"porte", "porte", "portons", "portez", "portent"}, "porté"},
    {"wash", "washes", "washed", {"lave", "lave", "lavons", "lavez", "lavent"}, "lavé"},
    {"open", "opens", "opened", {"ouvre", "ouvre", "ouvrons", "ouvrez", "ouvrent"}, "ouvert"},
    {"close", "closes", "closed", {"ferme", "ferme", "fermons", "fermez", "ferment"}, "fermé"},
    {"lose", "loses", "lost", {"perds", "perd", "perdons", "perdez", "perdent"}, "perdu"},
    {"take", "takes", "took", {"prends", "prend", "prenons", "prenez", "prennent"}, "pris"},
    {"hide", "hides", "hid", {"cache", "cache", "cachons", "cachez", "cachent"}, "caché"},
    {"repair", "repairs", "repaired", {"répare", "répare", "réparons", "réparez", "réparent"}, "réparé"},
    {"forget", "forgets", "forgot", {"oublie", "oublie", "oublions", "oubliez", "oublient"}, "oublié"},
    {"choose", "chooses", "chose", {"choisis", "choisit", "choisissons", "choisissez", "choisissent"}, "choisi"},
    {"draw", "draws", "drew", {"dessine", "dessine", "dessinons", "dessinez", "dessinent"}, "dessiné"},
    {"read", "reads", "read", {"lis", "lit", "lisons", "lisez", "lisent"}, "lu"},
    {"write", "writes", "wrote", {"écris", "écrit", "écrivons", "écrivez", "écrivent"}, "écrit"},
    {"hit", "hits", "hit", {"frappe", "frappe", "frappons", "frappez", "frappent"}, "frappé"},
    {"have", "has", "had", {"ai", "a", "avons", "avez", "ont"}, "eu"},
    {"want", "wants", "wanted", {"veux", "veut", "voulons", "voulez", "veulent"}, "voulu"},
    {"visit", "visits", "visited", {"visite", "visite", "visitons", "visitez", "visitent"}, "visité"},
};

// "to be": in the order of Person, present and past.
constexpr Phrase being_table[][2] = {{{"am", "suis"}, {"was", "étais"}},
                                     {{"is", "est"}, {"was", "était"}},
                                     {{"are", "sommes"}, {"were", "étions"}},
                                     {{"are", "êtes"}, {"were", "étiez"}},
                                     {{"are", "sont"}, {"were", "étaient"}}};

std::string with_subject(const Subject& subject, const std::string& group) {
  return subject.person == Person::i ? elided("je", group) : fmt::format("{} {}", subject.fr, group);
}

}  // namespace

std::vector<Subject> subjects() {
  using enum Person;
  return {
      {"I", "je", i},
      {"he", "il", he},
      {"she", "elle", he, 'f'},
      {"we", "nous", we},
      {"you", "vous", you},
      {"they", "ils", they},
      {"the man", "l'homme", he},
      {"the woman", "la femme", he, 'f'},
      {"the boy", "le garçon", he},
      {"the girl", "la fille", he, 'f'},
      {"my brother", "mon frère", he},
      {"my sister", "ma sœur", he, 'f'},
      {"my parents", "mes parents", they},
      {"the children", "les enfants", they},
      {"Paul", "Paul", he},
      {"Emma", "Emma", he, 'f'},
  };
}

std::span<const Verb> verbs() {
  return verb_table;
}

const Verb& verb(std::string_view base) {
  for (const Verb& row : verb_table) {
    if (row.base == base) return row;
  }
  throw std::logic_error(fmt::format("the grammar has no verb \"{}\"", base));
}

bool tells_tense(const Verb& verb, Tense tense, Mood mood) {
  return mood != Mood::affirmed || tense == Tense::past || verb.base != verb.past;
}

std::string english_clause(const Subject& subject, const Verb& verb, Tense tense, Mood mood) {
  const bool third = subject.person == Person::he;
  if (mood == Mood::affirmed) {
    const std::string_view form = tense == Tense::past ? verb.past : third ? verb.third : verb.base;
    return fmt::format("{} {}", subject.en, form);
  }
  const std::string_view auxiliary = tense == Tense::past ? "did" : third ? "does" : "do";
  if (mood == Mood::asked) return fmt::format("{} {} {}", auxiliary, subject.en, verb.base);
  return fmt::format("{} {}n't {}", subject.en, auxiliary, verb.base);
}

std::string french_clause(const Subject& subject, const Verb& action, Tense tense, Mood mood) {
  const std::size_t person = static_cast<std::size_t>(subject.person);
  const Verb& conjugated = tense == Tense::past ? verb("have") : action;
  std::string group(conjugated.present[person]);
  if (mood == Mood::denied) group = elided("ne", group) + " pas";
  if (tense == Tense::past) group += fmt::format(" {}", action.participle);
  std::string clause = with_subject(subject, group);
  return mood == Mood::asked ? elided("est-ce que", clause) : clause;
}

const Phrase& being(Person person, Tense tense) {
  return being_table[static_cast<std::size_t>(person)][tense == Tense::past ? 1 : 0];
}

Clause quality_clause(const Subject& subject, const Adjective& quality, const Phrase& degree, Tense tense) {
  const bool plural = subject.person == Person::we || subject.person == Person::they;
  const std::string form = agreed(quality, {.gender = subject.gender, .plural = plural});
  const Phrase& is = being(subject.person, tense);
  return {fmt::format("{} {} {}", subject.en, is.en, with_degree(degree.en, quality.en)),
          with_subject(subject, fmt::format("{} {}", is.fr, with_degree(degree.fr, form)))};
}

std::vector<Phrase> times(Tense tense) {
  std::vector<Phrase> all = {{"", ""},
                             {" today", " aujourd'hui"},
                             {" this morning", " ce matin"},
                             {" on Monday", " lundi"},
                             {" on Tuesday", " mardi"},
                             {" on Friday", " vendredi"},
                             {" on Sunday", " dimanche"}};
  if (tense == Tense::past) {
    all.insert(all.end(), {{" yesterday", " hier"}, {" last week", " la semaine dernière"}});
  } else {
    all.insert(all.end(), {{" every day", " tous les jours"}, {" now", " maintenant"}});
  }
  return all;
}

}  // namespace attnscope
