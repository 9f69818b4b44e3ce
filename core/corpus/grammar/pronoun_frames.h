// The situations in which "it" can stand for either of two things, and what tells which.
#pragma once

#include <string_view>
#include <vector>

#include "corpus/grammar/clause.h"
#include "corpus/random.h"

namespace attnscope {

// A main clause over the things A and B.
struct MainClause {
  std::string_view en;
  std::string_view fr;
  Tense tense = Tense::past;
};

// Something said of "it". An adjective of the lexicon is enough ("tired": was tired, était fatigué); otherwise English
// and French as they follow "was" and "était", where [… P] agrees with what "it" stands for. After Link::so it is what
// happened to it: a verb in the past and all that follows.
struct Predicate {
  std::string_view en;
  std::string_view fr = {};
};

// How what is said of it is joined to the main clause.
enum class Link { because, fronted, but, so };

// The word that gives the reason, of Link::because and Link::fronted.
enum class Reason { because, since, as };

// "main because said", "because said, main" and so on.
Clause joined(Link link, const Clause& main, const Clause& said, Reason reason = Reason::because);

// With `others` "since" or "as" in half of the sentences that give a reason; because in the rest, and wherever there is
// none.
Reason drawn_reason(Link link, bool others, Random& random);

struct PronounFrame {
  std::string_view name;
  std::string_view a_class;
  std::string_view b_class;
  std::vector<MainClause> mains;
  std::vector<Link> links;
  std::vector<std::string_view> degrees;  // "too", "very", "so" or "": for qualities that have degrees
  std::vector<Predicate> of_a;            // true of A alone, given the main clause
  std::vector<Predicate> of_b;            // true of B alone
};

// Less is said that agrees than in the first two editions: what tells which thing it is then seldom needs that thing's
// gender for itself.
std::vector<PronounFrame> pronoun_frames();

std::vector<PronounFrame> first_pronoun_frames();  // as in the first two editions

// Only sentences about other things are trained on: everybody will try these.
bool is_famous(std::string_view a, std::string_view b);

}  // namespace attnscope
