// The edge between two columns.
#pragma once

#include "base/skin.h"

namespace attnscope {

struct SplitterOptions {
  float min = 160;  // all lengths at scale 1
  float max = 800;
  float standard = 280;          // after a double-click
  bool column_is_right = false;  // the column whose width it sets is right of it
};

inline constexpr float splitter_width = 6;  // at scale 1

// A vertical bar of that height at the cursor, dragged to change `width` (at scale 1). True when it changed.
bool draw_splitter(const char* id, float& width, float height, const SplitterOptions& options, const Skin& skin);

}  // namespace attnscope
