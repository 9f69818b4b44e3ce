// Verbs in simple clauses: who does or is what, when, and whether.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/grammar/lexicon.h"

namespace attnscope {

enum class Tense { present, past };

// In both languages.
struct Clause {
  std::string en, fr;
};

enum class Person { i, he, we, you, they };

struct Subject {
  std::string_view en;
  std::string_view fr;
  Person person = Person::he;
  char gender = 'm';
};

struct Verb {
  std::string_view base, third, past;       // see, sees, saw
  std::array<std::string_view, 5> present;  // je, il, nous, vous, ils: vois, voit, voyons, voyez, voient
  std::string_view participle;              // vu
};

// I, he, she, we, you (vous), they (ils), and some people.
std::vector<Subject> subjects();

// All verbs that clauses have.
std::span<const Verb> verbs();

// Transitive verbs by their English base; throws std::logic_error for one that is not there.
const Verb& verb(std::string_view base);

enum class Mood { affirmed, denied, asked };

// False where English does not show the tense ("I read the book").
bool tells_tense(const Verb& verb, Tense tense, Mood mood);

// Subject and verb in both languages, beginning a sentence whose object follows. Questions are asked with
// "est-ce que" and still want their "?".
std::string english_clause(const Subject& subject, const Verb& verb, Tense tense, Mood mood);
std::string french_clause(const Subject& subject, const Verb& verb, Tense tense, Mood mood);

// "am", "suis".
const Phrase& being(Person person, Tense tense);

// "she was too happy": what the subject is, or was.
Clause quality_clause(const Subject& subject, const Adjective& quality, const Phrase& degree, Tense tense);

// When it happens: expressions that end a sentence, the first of them empty.
std::vector<Phrase> times(Tense tense);

}  // namespace attnscope
