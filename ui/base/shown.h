// The snapshots on the screen: of the present model, or recorded during training.
#pragma once

#include <cstdint>
#include <memory>

#include "base/translation.h"
#include "messages/snapshot.h"

namespace attnscope {

// A displayed snapshot and its version, which changes whenever the snapshot does and versions the textures made from
// it.
struct Shown {
  std::shared_ptr<const Snapshot> snapshot;
  std::uint64_t version = 0;
  bool inspection_comes = false;  // recorded frame; a complete forward pass with its step's weights is pending
};

// The snapshots that every workspace shows. The tokens of the sentence and the encoder's maps come from `newest`; the
// rest comes from `complete`, which was decoded to its end. Either may be null.
struct ShownMaps {
  const Shown& newest;
  const Shown& complete;
  const Shown& of(AttentionPart part) const { return part == AttentionPart::encoder ? newest : complete; }
  // True if there is nothing to draw: not decoded yet, or not part of this model.
  bool lacks(AttentionPart part) const { return !of(part).snapshot || maps_of(*of(part).snapshot, part).empty(); }
};

// True if the snapshot was recorded during training, rather than computed for a Probe of the window.
inline bool is_recorded(const Snapshot& snapshot) {
  return snapshot.request == 0;
}

// The note shown in place of data that recorded frames do not contain.
inline const char* recorded_note(const Shown& recorded) {
  if (recorded.inspection_comes) return "…";
  return tr(
      "Weights were not recorded at this step, only attention maps and the decoding. Go to a step with a dot, or "
      "return to Live (below).");
}

}  // namespace attnscope
