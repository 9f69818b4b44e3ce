#include "workspaces/attention/head_measures.h"

#include <algorithm>

namespace attnscope {

void measure(HeadMeasures& all, AttentionPart part, const AttentionMaps& maps, std::uint64_t version,
             std::size_t& budget) {
  auto& layers = all.parts[static_cast<std::size_t>(part)];
  layers.resize(maps.size());
  for (std::size_t layer = 0; layer < maps.size(); ++layer) {
    layers[layer].resize(maps[layer].size());
    for (std::size_t head = 0; head < maps[layer].size(); ++head) {
      MeasuredHead& measured = layers[layer][head];
      if (measured.version == version) continue;
      if (budget == 0) {
        all.pending = true;
        return;
      }
      const Matrix& map = maps[layer][head];
      measured = {version, measures_of(map, part == AttentionPart::decoder)};
      budget -= std::min(budget, map.values.size());
      ++all.changes;
    }
  }
}

const MapMeasures* measures_at(const HeadMeasures& all, const HeadPlace& place) {
  const auto& layers = all.parts[static_cast<std::size_t>(place.part)];
  const auto layer = static_cast<std::size_t>(place.layer);
  const auto head = static_cast<std::size_t>(place.head);
  if (layer >= layers.size() || head >= layers[layer].size() || layers[layer][head].version == 0) return nullptr;
  return &layers[layer][head].measures;
}

}  // namespace attnscope
