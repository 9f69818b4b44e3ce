// Where the layer norm stands: LayerNorm(x + Sublayer(x)) or x + Sublayer(LayerNorm(x)).
#pragma once

#include <imgui.h>

#include "base/look.h"

namespace attnscope {

float norm_diagram_height(const Look& look);

// Both ways side by side, the model's own in full colour; where there is no room for both, only that one.
void draw_norm_diagram(bool pre_norm, float width, const Look& look);

}  // namespace attnscope
