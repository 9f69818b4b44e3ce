// Numbers about every head, made when its map changed, a few heads a frame.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "measures/attention_measures.h"
#include "plain/heads.h"
#include "plain/snapshot.h"

namespace attnscope {

// How many cells are looked at in one frame, at least one head: a millisecond or two.
inline constexpr std::size_t cells_measured_a_frame = 100'000;

struct MeasuredHead {
  std::uint64_t version = 0;  // of the map measured; 0: none yet
  MapMeasures measures;
};

struct HeadMeasures {
  std::array<std::vector<std::vector<MeasuredHead>>, 3> parts;  // [part][layer][head]
  std::uint64_t changes = 0;                                    // counts the heads measured
  bool pending = false;                                         // some are not measured yet, or have a newer map
};

// Measures the part's heads that have another map by now, until the budget is used up; at least one.
void measure(HeadMeasures& all, AttentionPart part, const AttentionMaps& maps, std::uint64_t version,
             std::size_t& budget);

// The measures of the head's last map; null: none was measured.
const MapMeasures* measures_at(const HeadMeasures& all, const HeadPlace& place);

}  // namespace attnscope
