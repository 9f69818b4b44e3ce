// What the colours of a map stand for.
#pragma once

#include <imgui.h>

#include "base/skin.h"

namespace attnscope {

// A bar of the map with its ends labelled, advancing the cursor by `size`. Upright when higher than wide.
void draw_legend(ColorMap map, float low, float high, ImVec2 size, const Skin& skin);

}  // namespace attnscope
