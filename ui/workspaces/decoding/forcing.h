// Teacher forcing against free running: what the decoder thinks of the reference, and where it leaves it.
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_forcing(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
