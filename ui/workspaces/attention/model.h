// Every layer × head as a thumbnail: the encoder's, the decoder's and the cross-attention's, each in its place or in an
// order.
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The level "Model". Fills what is left of the window.
void draw_model(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

// The thumbnails alone, each in its place, beneath each other: the column beside the nearer levels.
void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
