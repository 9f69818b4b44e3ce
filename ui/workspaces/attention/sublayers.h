// What every sublayer does to every piece's vector: add & norm, feed-forward (paper §3.1, §3.3).
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_sublayers(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
