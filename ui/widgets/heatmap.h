// A matrix as one picture: attention maps, masks, positional encodings.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "base/skin.h"
#include "base/textures.h"
#include "common/matrix.h"
#include "widgets/heatmap_options.h"

namespace attnscope {

// Draws into `size` (a component ≤ 0: the remaining room minus that amount). `version` must change whenever the matrix
// does; the texture is uploaded only then. `id` names the texture and must be unique in its window.
HeatmapResult draw_heatmap(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                           const HeatmapOptions& options, TextureStore& textures, const Skin& skin);

// The part of the given height that draw_heatmap would use.
float heatmap_height(const Matrix& matrix, const HeatmapOptions& options, ImVec2 size, const Skin& skin);

struct ThumbnailOptions {
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool mask_upper = false;
  bool selected = false;
  Color32 frame = 0;  // outline of a selected one; 0: the accent color
};

// Draws only the picture, stretched to `size`, as a button. Returns true if clicked or activated from the keyboard.
// Hover is ImGui::IsItemHovered(). If there are too many cells to resolve, the value of largest magnitude of each block
// is shown.
bool draw_thumbnail(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                    const ThumbnailOptions& options, TextureStore& textures, const Skin& skin);

// Resolves components ≤ 0 to the remaining room of the window minus that amount.
ImVec2 room_for(ImVec2 size);

}  // namespace attnscope
