// One head as a small picture, which can be chosen.
#pragma once

#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// At the cursor. A click selects the head, with Shift it is shown together with the others; a
// double-click opens the level "Head". Heads that look almost everywhere alike are marked.
void draw_head_thumbnail(const Shown& shown, const HeadPlace& place, ImVec2 size, AttentionView& view,
                         TextureStore& textures, const Skin& skin);

}  // namespace attnscope
