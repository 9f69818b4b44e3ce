// The output built token by token: what the decoder saw, where it looked, what it chose from (paper §3.1, §3.2.3).
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_steps(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
