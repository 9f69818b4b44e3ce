#include "widgets/wrapped_row.h"

#include <imgui.h>

namespace attnscope {

void next_in_row(float width, const Skin& skin) {
  const float gap = skin.px(6);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;  // of the next line
  if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine(0, gap);
}

void next_in_row(const char* label, const Skin& skin) {
  next_in_row(ImGui::CalcTextSize(label, nullptr, true).x + ImGui::GetStyle().FramePadding.x * 2, skin);
}

void next_checkbox_in_row(const char* label, const Skin& skin) {
  const float box = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x;
  next_in_row(box + ImGui::CalcTextSize(label, nullptr, true).x, skin);
}

}  // namespace attnscope
