// What the mouse does on a heatmap: it points, chooses, zooms and pans.
#pragma once

#include "widgets/heatmap.h"
#include "widgets/heatmap_layout.h"

namespace attnscope {

// Puts the invisible buttons there, changes options.zoom, and says what is under the mouse.
HeatmapResult touch_heatmap(const Matrix& matrix, const HeatmapOptions& options, const HeatmapLayout& layout);

}  // namespace attnscope
