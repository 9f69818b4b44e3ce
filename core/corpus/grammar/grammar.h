// The built-in English–French corpus: a small grammar whose sentences are right in both languages.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/corpus.h"
#include "corpus/draft.h"
#include "corpus/random.h"

namespace attnscope {

// Nearly 80 000 pairs with different sources, in random order; 40 % of them turn on what "it" stands for. The editions
// before have less: in the fifth "because" gives every reason; in the fourth nothing is said of anybody besides "it";
// in the third nor of the things that "it" might stand for, and it always stands for something; in the second besides
// "it" alone gives a reason, and more of what is said of it agrees with its noun; in the first there are besides no
// kinds of people and fewer senses. Runs that were trained on them go on with them.
std::vector<Draft> english_french_drafts(std::int64_t edition, std::int64_t seed, const CorpusProgress& progress = {});

// The parts of it, each at most `wanted` drafts and possibly with repeated sources.
std::vector<Draft> pronoun_drafts(std::size_t wanted, Random& random);
std::vector<Draft> first_pronoun_drafts(std::size_t wanted, Random& random);   // as in the first two editions
std::vector<Draft> third_pronoun_drafts(std::size_t wanted, Random& random);   // as in the third
std::vector<Draft> fourth_pronoun_drafts(std::size_t wanted, Random& random);  // as in the fourth
std::vector<Draft> fifth_pronoun_drafts(std::size_t wanted, Random& random);   // as in the fifth
std::vector<Draft> reason_drafts(std::size_t wanted, Random& random);
std::vector<Draft> third_reason_drafts(std::size_t wanted, Random& random);  // as in the third to fifth
std::vector<Draft> circumstance_drafts(std::size_t wanted, Random& random);
std::vector<Draft> fourth_circumstance_drafts(std::size_t wanted, Random& random);  // as in the fourth and fifth
std::vector<Draft> sense_drafts(std::size_t wanted, Random& random);
std::vector<Draft> first_sense_drafts(std::size_t wanted, Random& random);  // as in the first edition
std::vector<Draft> people_drafts(std::size_t wanted, Random& random);
std::vector<Draft> kind_drafts(std::size_t wanted, Random& random);
std::vector<Draft> distance_drafts(std::size_t wanted, Random& random);
std::vector<Draft> greeting_drafts(std::size_t wanted, Random& random);
std::vector<Draft> basic_drafts(std::size_t wanted, Random& random);

// At most `wanted` of the drafts, drawn without regard to their order; no source twice.
std::vector<Draft> drawn(std::vector<Draft> drafts, std::size_t wanted, Random& random);

// One of the items; there must be one.
template <typename Items>
const auto& pick(const Items& items, Random& random) {
  return items[random.below(std::size(items))];
}

}  // namespace attnscope
