// Where every head looked in one step, and what the look-ahead mask let it see (paper §3.2.3).
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Each fills what is left of the window.

// This step's row of every map, or a recurrent decoder's alignment; why there is none, where there is none.
void draw_step_heads(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// A Transformer's.
void draw_look_ahead_mask(const Snapshot& snapshot, DecodingView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
