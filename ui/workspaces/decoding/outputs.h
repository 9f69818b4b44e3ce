// What the views of all outputs at once share: which outputs they show, and where one of them looked.
#pragma once

#include <vector>

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "plain/decodings.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// What to show: `shown` if its decodings are there, else the last that were of the same sentence and run, so that
// nothing flickers while those of the next look are on their way. Without any, draws a word about it and returns a null
// snapshot.
const Shown& settled(const Shown& shown, DecodingView& view, const Skin& skin);

// Text and attention of the output that is looked at, with a button that steers the decoder along it. `shown` is
// settled. Fills what is left of the window.
void draw_hypothesis(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

// Dim words after what stands in the line, with the whole of it in the tooltip.
void quiet_words(const std::string& words, std::string_view help, const Skin& skin);

}  // namespace attnscope
