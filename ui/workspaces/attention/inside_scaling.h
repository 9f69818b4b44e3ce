// One head with its scores divided by √d_k and not, side by side (paper §3.2.1).
#pragma once

#include "workspaces/attention/inside_cards.h"

namespace attnscope {

// As wide as what is left of the window; advances the cursor.
void draw_scaling(const HeadCards& cards, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
