#include "circuit/formation.h"

#include <memory>

#include "circuit/search.h"
#include "circuit/twin_runs.h"

namespace attnscope {

FormationPoint formation_point(SequenceModel& model, const Tokenizer& tokenizer, const FormationStudy& study,
                               std::int64_t step, const Breath& breathe) {
  const auto runs = std::make_shared<const TwinRuns>(model, tokenizer, study.facts);
  const TwinCase it = case_of(runs);
  std::vector<ChangesOf> parts;
  if (!study.circuit.places.empty()) parts.push_back(changes_of(study.circuit, study.circuit.places.back()));
  for (const Hop& hop : study.circuit.hops) parts.push_back(changes_of(study.circuit, hop));
  std::vector<ChangedRun> changed;
  for (const ChangesOf& part : parts)
    for (const Twin of : {Twin::clean, Twin::corrupted}) changed.push_back({of, part(it)});
  const std::vector<Odds> odds = runs->read(changed, breathe);
  const TwinFacts& facts = runs->facts();
  FormationPoint point{.step = step, .difference = facts.effect(), .moved = {}};
  for (std::size_t i = 0; i < odds.size(); i += 2) {
    const double lost = facts.clean.margin - odds[i].margin;
    const double gained = odds[i + 1].margin - facts.corrupted.margin;
    point.moved.push_back((lost + gained) / 2);
  }
  return point;
}

}  // namespace attnscope
