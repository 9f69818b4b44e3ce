#include "messages/interventions.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/config.h"

namespace attnscope {

AttentionPart part_of(const LayerPlace& place, const ActivationSite& site) {
  if (site.cross) return AttentionPart::cross;
  return place.decoder ? AttentionPart::decoder : AttentionPart::encoder;
}

std::vector<ActivationSite> activation_sites(const ModelConfig& model, const LayerPlace& place) {
  std::vector<ActivationSite> sites{{ActivationKind::stream}, {ActivationKind::hidden}};
  for (const bool cross : {false, true})
    for (int head = 0; (place.decoder || !cross) && head < part_size(model, part_of(place, {.cross = cross})).heads;
         ++head)
      sites.push_back({ActivationKind::head, cross, head});
  return sites;
}

std::string site_text(const ActivationSite& site) {
  if (site.kind != ActivationKind::head) return site.kind == ActivationKind::hidden ? "hidden" : "layer";
  return fmt::format("{}.{}", site.cross ? "cross" : "head", site.head + 1);
}

void hide(Interventions& interventions, const ForcedAttention& cell) {
  std::vector<HiddenKeys>& all = interventions.hidden;
  auto at = std::ranges::find(all, cell.place, &HiddenKeys::place);
  if (at == all.end()) at = all.insert(at, HiddenKeys{cell.place, {}});
  const HiddenKeys::Cell hidden{cell.query, cell.key};
  const auto place = std::ranges::lower_bound(at->cells, hidden);
  if (place == at->cells.end() || *place != hidden) at->cells.insert(place, hidden);
}

}  // namespace attnscope
