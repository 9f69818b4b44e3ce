// The decoding workspace: every choice the decoder had (paper §3.1, §3.2.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/look.h"
#include "base/shown.h"
#include "base/textures.h"
#include "workspaces/decoding/view.h"

namespace attnscope {

// By its name on the command line: "steps", "tree", "readings", "forcing".
std::optional<DecodingMode> mode_from(std::string_view name);
std::vector<std::string> mode_names();

// Fills what is left of the window. `shown` holds a snapshot decoded to its end; its decodings may still be coming.
// `reference` is what the sentence should become, and can be edited here.
void draw_decoding(const Shown& shown, DecodingView& view, std::string& reference, TextureStore& textures,
                   const Look& look);

}  // namespace attnscope
