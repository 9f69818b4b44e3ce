// One head: its map with labels, and the row that is looked at as a list.
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// Fills what is left of the window; the view is settled on a part that the model has.
void draw_head(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
