// Greedy, beam and samples of one model on one sentence, side by side with their scores.
#pragma once

#include "base/look.h"
#include "base/shown.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_readings(const Shown& shown, DecodingView& view, TextureStore& textures, const Look& look);

}  // namespace attnscope
