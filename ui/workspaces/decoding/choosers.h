// Whose attention the decoding workspace shows: a layer's, and there one head's or the mean of all.
#pragma once

#include "base/skin.h"
#include "plain/snapshot.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// view.layer brought into what `maps` have, which is not nothing.
int shown_layer(const AttentionMaps& maps, const DecodingView& view);

// The map of the layer and head chosen, or the mean over its heads. `maps` is not empty.
Matrix shown_map(const AttentionMaps& maps, const DecodingView& view);

// Changes whenever that map does.
std::uint64_t shown_map_version(const Shown& shown, const AttentionMaps& maps, const DecodingView& view);

// Whether there is more than one head.
bool has_choice(const AttentionMaps& maps);

// What they take of the line.
float choosers_width(const Skin& skin);

// Two lists in one line, the cursor after them; call only where there is a choice.
void draw_choosers(const AttentionMaps& maps, DecodingView& view, const Skin& skin);

}  // namespace attnscope
