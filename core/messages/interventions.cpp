#include "messages/interventions.h"

#include <algorithm>

namespace attnscope {

void hide(Interventions& interventions, const ForcedAttention& cell) {
  std::vector<HiddenKeys>& all = interventions.hidden;
  auto at = std::ranges::find(all, cell.place, &HiddenKeys::place);
  if (at == all.end()) at = all.insert(at, HiddenKeys{cell.place, {}});
  const HiddenKeys::Cell hidden{cell.query, cell.key};
  const auto place = std::ranges::lower_bound(at->cells, hidden);
  if (place == at->cells.end() || *place != hidden) at->cells.insert(place, hidden);
}

}  // namespace attnscope
