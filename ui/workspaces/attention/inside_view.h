// What the level "Inside one head" remembers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "measures/head_stages.h"
#include "workspaces/attention/inside_stages.h"

namespace attnscope {

struct InsideView {
  bool compare = false;              // √d_k on and off side by side
  std::optional<Stage> alone;        // drawn alone, as large as there is room
  std::optional<CellMask> painted;   // instead of the model's mask
  AttentionPart painted_part = {};   // where it was painted
  std::optional<bool> brush;         // while the mouse is down on the mask: what it hides (true) or shows
  std::optional<StageCell> pointed;  // under the mouse in the last frame
  std::uint64_t versions = 0;        // of the numbers made so far
  std::shared_ptr<const HeadNumbers> numbers;
};

}  // namespace attnscope
