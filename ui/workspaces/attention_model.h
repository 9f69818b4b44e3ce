// Every layer × head as a thumbnail: the encoder's, the decoder's and the cross-attention's, each in its place.
#pragma once

#include "look.h"
#include "textures.h"
#include "workspaces/attention_view.h"

namespace attnscope {

// Fills what is left of the window; a click selects.
void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look);

}  // namespace attnscope
