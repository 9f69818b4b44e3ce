// What is on the screen: looks at the present model, or recorded ones.
#pragma once

#include <cstdint>
#include <memory>

#include "base/translation.h"
#include "plain/snapshot.h"

namespace attnscope {

// A snapshot on the screen, and a number that changes whenever it does: the version of the textures made from it.
struct Shown {
  std::shared_ptr<const Snapshot> snapshot;
  std::uint64_t version = 0;
  bool inspection_comes = false;  // it was recorded, and a whole look through its step's weights is on its way
};

// What every workspace shows. The sentence's pieces and the encoder's maps come from `newest`, the rest from
// `complete`, which was decoded to its end; either snapshot may be null.
struct ShownMaps {
  const Shown& newest;
  const Shown& complete;
  const Shown& of(AttentionPart part) const { return part == AttentionPart::encoder ? newest : complete; }
  // Nothing to draw: not decoded yet, or not in this model.
  bool lacks(AttentionPart part) const { return !of(part).snapshot || maps_of(*of(part).snapshot, part).empty(); }
};

// Whether it was recorded, and is not the answer to a Probe of the window.
inline bool is_recorded(const Snapshot& snapshot) {
  return snapshot.request == 0;
}

// In place of what recorded frames do not hold.
inline const char* recorded_note(const Shown& recorded) {
  if (recorded.inspection_comes) return "…";
  return tr(
      "Weights were not recorded at this step, only attention maps and the decoding. Go to a step with a dot, or "
      "return to Live (below).");
}

}  // namespace attnscope
