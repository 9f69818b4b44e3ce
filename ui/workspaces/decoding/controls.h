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

// One line: "Begins with" and "Should become".
void draw_beginning_and_reference(const Snapshot& snapshot, DecodingView& view, std::string& reference,
                                  const Skin& skin);

}  // namespace attnscope
