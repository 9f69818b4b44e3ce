// The attention workspace (paper §3.2): from the whole model to one head's own numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/look.h"
#include "base/textures.h"
#include "workspaces/attention/view.h"

namespace attnscope {

// By its name on the command line: "model", "head", "inside", "sublayers".
std::optional<AttentionLevel> level_from(std::string_view name);
std::vector<std::string> level_names();

// Fills what is left of the window. `grid_width` is that of the column of thumbnails, in pixels at scale 1.
void draw_attention(const ShownMaps& maps, AttentionView& view, float& grid_width, TextureStore& textures,
                    const Look& look);

}  // namespace attnscope
