// What every mode of the decoding workspace is asked with: how to search and draw, how the output has to begin, what it
// should become.
#pragma once

#include <string>

#include "base/skin.h"
#include "plain/snapshot.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// A button that names the options in force, at the right end of the line; a click shows them all. What is set there is
// always valid.
void draw_options_button(DecodingView& view, const Skin& skin);

// "Begins with" and "Should become": one line, or two in a narrow window.
void draw_beginning_and_reference(const Snapshot& snapshot, DecodingView& view, std::string& reference,
                                  const Skin& skin);

// ---- whose attention is shown: a layer's, and there one head's or the mean of all

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
