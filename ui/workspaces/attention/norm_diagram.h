// Where the layer norm stands: LayerNorm(x + Sublayer(x)) or x + Sublayer(LayerNorm(x)).
#pragma once

#include <imgui.h>

#include "base/skin.h"

namespace attnscope {

float norm_diagram_height(const Skin& skin);

// Both ways side by side, the model's own in full colour; where there is no room for both, only that one.
void draw_norm_diagram(bool pre_norm, float width, const Skin& skin);

}  // namespace attnscope
