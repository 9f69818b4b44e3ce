// One head from the inside: q·k, ÷√d_k, mask, softmax, ×V, W_O, stage after stage (paper §3.2.1).
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_inside(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
