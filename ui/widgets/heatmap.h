// A matrix as one picture: attention maps, masks, positions.
#pragma once

#include <imgui.h>

#include <cstdint>

#include "base/skin.h"
#include "base/textures.h"
#include "plain/matrix.h"
#include "widgets/heatmap_options.h"

namespace attnscope {

// Fills `size` (a component ≤ 0: what is left of the window, less that much). `version` changes whenever the matrix may
// have; the texture is uploaded again only then. `id` names the texture and must be unique in its window.
HeatmapResult draw_heatmap(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                           const HeatmapOptions& options, TextureStore& textures, const Skin& skin);

// How much of that height draw_heatmap would use.
float heatmap_height(const Matrix& matrix, const HeatmapOptions& options, ImVec2 size, const Skin& skin);

struct ThumbnailOptions {
  ColorMap map = ColorMap::viridis;
  float low = 0;
  float high = 1;
  bool mask_upper = false;
  bool selected = false;
  Color32 frame = 0;  // of a selected one; 0: the accent
};

// The bare picture, stretched to `size`, as a button: true when clicked (or activated from the keyboard). Hover is
// ImGui::IsItemHovered(). Of more cells than can be told apart, the largest of each block is shown.
bool draw_thumbnail(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                    const ThumbnailOptions& options, TextureStore& textures, const Skin& skin);

// The size itself, with what is left of the window, less that much, for a component ≤ 0.
ImVec2 room_for(ImVec2 size);

}  // namespace attnscope
