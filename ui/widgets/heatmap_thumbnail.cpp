#include <algorithm>

#include "widgets/heatmap.h"
#include "widgets/heatmap_picture.h"
#include "widgets/painter.h"

namespace attnscope {
namespace {

// How many cells a side become one pixel: as many pixels as can be told apart on a thumbnail are enough.
int shrink_of(const Matrix& matrix, float side, const Skin& skin) {
  const int most = side > skin.px(128) ? 128 : 64;
  return std::max(1, (std::max(matrix.rows, matrix.cols) + most - 1) / most);
}

void draw_frame(Painter& paint, ImVec2 low, ImVec2 high, const ThumbnailOptions& options, const Skin& skin) {
  const bool focused = ImGui::GetIO().NavVisible && ImGui::IsItemFocused();
  const float out = skin.px(2);
  const ImVec2 outer_low{low.x - out, low.y - out};
  const ImVec2 outer_high{high.x + out, high.y + out};
  if (options.selected || focused)
    paint.rect(outer_low, outer_high, options.frame != 0 ? options.frame : skin.theme.accent, skin.px(2), skin.px(2));
  else if (ImGui::IsItemHovered())
    paint.rect({low.x - 1, low.y - 1}, {high.x + 1, high.y + 1}, skin.theme.text);
}

}  // namespace

bool draw_thumbnail(const char* id, const Matrix& matrix, std::uint64_t version, ImVec2 size,
                    const ThumbnailOptions& options, TextureStore& textures, const Skin& skin) {
  size = room_for(size);
  ImGui::PushID(id);
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const ImVec2 high{low.x + size.x, low.y + size.y};
  const bool pressed = ImGui::InvisibleButton("thumbnail", size);
  Painter paint(skin);
  if (matrix.empty()) {
    paint.filled_rect(low, high, skin.theme.masked);
  } else if (ImGui::IsItemVisible()) {
    const Coloring coloring{options.map, options.low, options.high, options.mask_upper, skin.theme.masked};
    paint_matrix(paint, low, high, matrix, version, coloring, textures,
                 shrink_of(matrix, std::max(size.x, size.y), skin));
  }
  draw_frame(paint, low, high, options, skin);
  ImGui::PopID();
  return pressed;
}

}  // namespace attnscope
