#include "widgets/splitter.h"

#include <imgui.h>

#include <algorithm>

#include "common/clamped.h"

namespace attnscope {

bool draw_splitter(const char* id, float& width, float height, const SplitterOptions& options, const Skin& skin) {
  const float before = width;
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float thickness = skin.px(splitter_width);
  ImGui::InvisibleButton(id, {thickness, std::max(1.0F, height)});
  const bool active = ImGui::IsItemActive();
  const bool lit = active || ImGui::IsItemHovered();
  if (lit) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);

  const float mouse = ImGui::GetIO().MousePos.x;
  // Offset at which the bar was grabbed, so that it stays under the mouse even after going past a limit.
  float& held_at = *ImGui::GetStateStorage()->GetFloatRef(ImGui::GetID(id));
  if (ImGui::IsItemActivated()) held_at = mouse - origin.x;
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 1)) {
    const float moved = (mouse - held_at - origin.x) / skin.scale;
    width += options.column_is_right ? -moved : moved;
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) width = options.standard;
  width = clamped(width, options.min, std::max(options.min, options.max));

  const float line = lit ? skin.px(2) : 1;
  const float x = origin.x + (thickness - line) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({x, origin.y}, {x + line, origin.y + height},
                                            lit ? skin.theme.accent : skin.theme.border);
  return width != before;
}

}  // namespace attnscope
