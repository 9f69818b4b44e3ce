#include "data/corpus/grammar/grammar.h"

#include <iterator>
#include <string>
#include <unordered_set>
#include <utility>

namespace attnscope {
namespace {

struct Part {
  std::vector<Draft> (*make)(std::size_t, Random&);
  std::size_t wanted;
};

constexpr Part parts[] = {
    {pronoun_drafts, 32000}, {reason_drafts, 4000},   {circumstance_drafts, 4000},
    {sense_drafts, 5000},    {people_drafts, 6000},   {kind_drafts, 5000},
    {distance_drafts, 6000}, {greeting_drafts, 3000}, {basic_drafts, 14000},
};

}  // namespace

std::vector<Draft> drawn(std::vector<Draft> drafts, std::size_t wanted, Random& random) {
  random.shuffle(drafts);
  std::vector<Draft> kept;
  std::unordered_set<std::string> sources;
  for (Draft& draft : drafts) {
    if (kept.size() == wanted) break;
    if (sources.insert(draft.pair.source).second) kept.push_back(std::move(draft));
  }
  return kept;
}

std::vector<Draft> english_french_drafts(std::int64_t seed, const CorpusProgress& progress) {
  Random random(seed);
  std::vector<Draft> drafts;
  std::unordered_set<std::string> sources;
  for (std::size_t i = 0; i < std::size(parts); ++i) {
    for (Draft& draft : parts[i].make(parts[i].wanted, random)) {
      if (sources.insert(draft.pair.source).second) drafts.push_back(std::move(draft));
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(std::size(parts) + 1));
  }
  random.shuffle(drafts);
  return drafts;
}

}  // namespace attnscope
