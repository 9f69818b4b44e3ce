#include "evaluation/antecedents.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "probe/look_inside.h"

namespace attnscope {

std::vector<AntecedentScore> score_antecedents(SequenceModel& model, const Tokenizer& tokenizer,
                                               std::span<const Pair> pairs,
                                               const std::function<void(double fraction)>& progress) {
  std::map<std::tuple<AntecedentView, int, int>, AntecedentScore> scores;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].antecedent.empty()) continue;
    Snapshot snapshot;
    look_inside(model, tokenizer, {.text = pairs[i].source}, [&](Snapshot latest) { snapshot = std::move(latest); },
                {});
    for (const HeadFinding& finding : find_antecedent(snapshot, pairs[i].antecedent)) {
      AntecedentScore& score = scores[{finding.view, finding.layer, finding.head}];
      score.view = finding.view;
      score.layer = finding.layer;
      score.head = finding.head;
      score.found += finding.found;
      ++score.pairs;
    }
    if (progress) progress(static_cast<double>(i + 1) / static_cast<double>(pairs.size()));
  }
  std::vector<AntecedentScore> best;
  for (const auto& [head, score] : scores) best.push_back(score);
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.share() > b.share(); });
  return best;
}

}  // namespace attnscope
