// Simple clauses: subject, verb, tense and polarity.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/grammar/lexicon.h"

namespace attnscope {

enum class Tense { present, past };

// A clause in both languages.
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

// All verbs used in clauses.
std::span<const Verb> verbs();

// Transitive verbs by their English base form; throws std::logic_error for an unknown one.
const Verb& verb(std::string_view base);

enum class Mood { affirmed, denied, asked };

// Returns false if English does not show the tense ("I read the book").
bool tells_tense(const Verb& verb, Tense tense, Mood mood);

// Subject and verb in both languages, the start of a sentence before its object. Questions use "est-ce que" and do not
// include the "?".
std::string english_clause(const Subject& subject, const Verb& verb, Tense tense, Mood mood);
std::string french_clause(const Subject& subject, const Verb& verb, Tense tense, Mood mood);

// "am", "suis".
const Phrase& being(Person person, Tense tense);

// "she was too happy": a quality of the subject, now or in the past.
Clause quality_clause(const Subject& subject, const Adjective& quality, const Phrase& degree, Tense tense);

// Expressions of time that end a sentence; the first is empty.
std::vector<Phrase> times(Tense tense);

}  // namespace attnscope
