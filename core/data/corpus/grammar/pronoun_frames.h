// Situations in which "it" can refer to either of two things, and the cues that decide which.
#pragma once

#include <string_view>
#include <vector>

#include "data/corpus/grammar/clause.h"
#include "data/corpus/random.h"

namespace attnscope {

// A main clause about the things A and B.
struct MainClause {
  std::string_view en;
  std::string_view fr;
  Tense tense = Tense::past;
};

// A predicate of "it". An adjective of the lexicon suffices ("tired": was tired, était fatigué). Otherwise English and
// French text after "was" and "était", in which [… P] agrees with the antecedent. After Link::so it is a verb in the
// past with all that follows.
struct Predicate {
  std::string_view en;
  std::string_view fr = {};
};

// The conjunction between main clause and predicate.
enum class Link { because, fronted, but, so };

// The conjunction of a reason, for Link::because and Link::fronted.
enum class Reason { because, since, as };

// "main because said", "because said, main" and so on.
Clause joined(Link link, const Clause& main, const Clause& said, Reason reason = Reason::because);

// "since" or "as" for half of the sentences with a reason; because for all others.
Reason drawn_reason(Link link, Random& random);

struct PronounFrame {
  std::string_view name;
  std::string_view a_class;
  std::string_view b_class;
  std::vector<MainClause> mains;
  std::vector<Link> links;
  std::vector<std::string_view> degrees;  // "too", "very", "so" or "": for qualities that have degrees
  std::vector<Predicate> of_a;            // true only of A, given the main clause
  std::vector<Predicate> of_b;            // true only of B
};

// Few predicates agree in French, so the cue for the antecedent seldom depends on its gender.
std::vector<PronounFrame> pronoun_frames();

// Returns true for pairs of things excluded from training, because everybody will try them.
bool is_famous(std::string_view a, std::string_view b);

}  // namespace attnscope
