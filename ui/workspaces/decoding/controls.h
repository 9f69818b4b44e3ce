// Controls shared by all modes of the decoding workspace: search and sampling options, the forced prefix, the
// reference.
#pragma once

#include <string>

#include "base/skin.h"
#include "messages/snapshot.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// Draws a button with the active options at the right end of the line; a click opens all options. Values are always
// valid.
void draw_options_button(DecodingView& view, const Skin& skin);

// "Forced prefix" and "Reference": on one line, or two in a narrow window.
void draw_beginning_and_reference(const Snapshot& snapshot, DecodingView& view, std::string& reference,
                                  const Skin& skin);

// ---- the attention to show: one head of a layer, or the mean of its heads

// Clamps view.layer to the layers of `maps`, which must not be empty.
int shown_layer(const AttentionMaps& maps, const DecodingView& view);

// The map of the selected layer and head, or the mean over the layer's heads. `maps` must not be empty.
Matrix shown_map(const AttentionMaps& maps, const DecodingView& view);

// Changes whenever that map does.
std::uint64_t shown_map_version(const Shown& shown, const AttentionMaps& maps, const DecodingView& view);

// True if there is more than one head.
bool has_choice(const AttentionMaps& maps);

// Width of the two lists.
float choosers_width(const Skin& skin);

// Draws the two lists on one line, with the cursor after them; call only if has_choice.
void draw_choosers(const AttentionMaps& maps, DecodingView& view, const Skin& skin);

}  // namespace attnscope
