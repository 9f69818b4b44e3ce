// A draggable edge between two columns.
#pragma once

#include "base/skin.h"

namespace attnscope {

struct SplitterOptions {
  float min = 160;  // all lengths at scale 1
  float max = 800;
  float standard = 280;          // restored by a double-click
  bool column_is_right = false;  // the bar resizes the column to its right
};

inline constexpr float splitter_width = 6;  // at scale 1

// Draws a vertical bar of that height at the cursor; dragging it changes `width` (at scale 1). Returns true if it
// changed.
bool draw_splitter(const char* id, float& width, float height, const SplitterOptions& options, const Skin& skin);

}  // namespace attnscope
