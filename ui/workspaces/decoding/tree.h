// All that the beam search considered, as a tree: where each hypothesis went on, ended or was pruned.
#pragma once

#include "base/shown.h"
#include "base/skin.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Fills what is left of the window.
void draw_tree(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin);

}  // namespace attnscope
