// The logit lens: what each layer would already say at each step, if it were the last.
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window. `decodings` is null while they are on their way. A click goes to that step.
void draw_lens(const Shown& shown, DecodingView& view, const Decodings* decodings, const Skin& skin);

}  // namespace attnscope
