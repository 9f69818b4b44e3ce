// Above the pictures of one head: what it is, and how it is shown.
#pragma once

#include <string>

#include "base/skin.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// The title, and what there is to say of the map shown.
void draw_head_caption(const Shown& shown, AttentionView& view, const Skin& skin);

// Matrix or lines, one head or many, pieces or words.
void draw_head_controls(const Shown& shown, AttentionView& view, const Skin& skin);

// In a few words, which fit a file's name: "encoder L2 H3 layer mean words".
std::string map_name(const HeadMap& map, const ModelConfig& model);

}  // namespace attnscope
