// Greedy, beam and samples of one model on one sentence, side by side with their scores.
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_readings(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
