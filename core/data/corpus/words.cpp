#include "data/corpus/words.h"

#include <algorithm>
#include <map>

#include "common/split.h"
#include "data/corpus/grammar/clause.h"
#include "data/corpus/grammar/lexicon.h"

namespace attnscope {
namespace {

using Properties = std::map<std::string, WordProperties, std::less<>>;

// Adds the properties of a word; the first entry wins.
void note(Properties& all, std::string_view word, WordProperties properties) {
  if (!word.empty() && word.find(' ') == std::string_view::npos) all.try_emplace(std::string(word), properties);
}

void note_nouns(Properties& all) {
  for (const Noun& noun : nouns()) {
    const WordGender gender = noun.gender == 'f' ? WordGender::feminine : WordGender::masculine;
    for (const std::string_view word : {noun.en, noun.fr})
      note(all, word, {WordKind::noun, gender, WordNumber::singular});
    for (const std::string& word : {english_plural(noun), french_plural(noun)})
      note(all, word, {WordKind::noun, gender, WordNumber::plural});
  }
}

void note_adjectives(Properties& all) {
  for (const Adjective& adjective : adjectives()) {
    const bool one_form = adjective.m == adjective.f;
    const WordGender masculine = one_form ? WordGender::unknown : WordGender::masculine;
    note(all, adjective.en, {.kind = WordKind::adjective});
    note(all, adjective.m, {WordKind::adjective, masculine, WordNumber::singular});
    note(all, adjective.m_before_vowel, {WordKind::adjective, masculine, WordNumber::singular});
    note(all, adjective.f, {WordKind::adjective, WordGender::feminine, WordNumber::singular});
  }
}

void note_verbs(Properties& all) {
  for (const Verb& verb : verbs()) {
    for (const std::string_view word : {verb.base, verb.third, verb.past, verb.participle})
      note(all, word, {.kind = WordKind::verb});
    for (const std::string_view word : verb.present) note(all, word, {.kind = WordKind::verb});
  }
}

const Properties& all_properties() {
  static const Properties all = [] {
    Properties made;
    note_nouns(made);
    note_adjectives(made);
    note_verbs(made);
    return made;
  }();
  return all;
}

constexpr GenderPair gender_table[] = {
    {"king", "queen"},    {"prince", "princess"}, {"duke", "duchess"},  {"man", "woman"},      {"boy", "girl"},
    {"actor", "actress"}, {"waiter", "waitress"}, {"father", "mother"}, {"brother", "sister"}, {"uncle", "aunt"},
};

// ---- senses

// Each sense as prefixes of words in its translation, the first of which is its name; a word's senses exclude one
// another.
struct Senses {
  std::string_view word;
  std::string_view senses;
};

constexpr std::string_view pronoun = "it";  // its sense is recorded in every pair

constexpr Senses sense_table[] = {
    {"apple", "pomme, Apple"},
    {"bank", "banque, rive"},
    {"bat", "chauve-souris, batte"},
    {"key", "clé, touche"},
    {"light", "lumière, léger/légère"},
    {"match", "allumette, match"},
    {"nail", "clou, ongle"},
    {"plant", "usine, plante"},
    {"ring", "bague, ring"},
    {"saw", "scie, vu/voir/vois/voit"},
    {"seal", "phoque, sceau"},
    {"sheet", "drap, feuille"},
    {"spring", "printemps, ressort, source"},
    {"star", "étoile, vedette"},
    {"watch", "montre, regard"},
};

std::string_view senses_text(std::string_view word) {
  const auto found = std::ranges::find(sense_table, word, &Senses::word);
  return found == std::end(sense_table) ? std::string_view() : found->senses;
}

// Returns true if a word of the text starts with it.
bool has_word_beginning(std::string_view text, std::string_view beginning) {
  for (std::size_t at = text.find(beginning); at != std::string_view::npos; at = text.find(beginning, at + 1))
    if (at == 0 || text[at - 1] == ' ' || text[at - 1] == '\'') return true;
  return false;
}

}  // namespace

bool is_english_french(const CorpusConfig& config) {
  return config.source == "english-french";
}

WordProperties properties_of(std::string_view word) {
  const auto found = all_properties().find(word);
  return found == all_properties().end() ? WordProperties() : found->second;
}

std::span<const GenderPair> gender_pairs() {
  return gender_table;
}

std::vector<std::string_view> ambiguous_words() {
  std::vector<std::string_view> words = {pronoun};
  for (const Senses& row : sense_table) words.push_back(row.word);
  return words;
}

std::vector<std::string> senses_of(std::string_view word) {
  if (word == pronoun) return {"il", "elle"};
  std::vector<std::string> names;
  for (const std::string_view sense : split(senses_text(word), ", "))
    if (!sense.empty()) names.emplace_back(split(sense, "/").front());
  return names;
}

int sense_in(std::string_view word, const Pair& pair) {
  if (word == pronoun) return pair.pronoun == "il" ? 0 : pair.pronoun == "elle" ? 1 : -1;
  int found = -1;
  int sense = 0;
  for (const std::string_view beginnings : split(senses_text(word), ", ")) {
    for (const std::string_view beginning : split(beginnings, "/")) {
      if (beginning.empty() || !has_word_beginning(pair.target, beginning)) continue;
      if (found >= 0 && found != sense) return -1;  // both occur
      found = sense;
    }
    ++sense;
  }
  return found;
}

}  // namespace attnscope
