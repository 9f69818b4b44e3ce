#include "widgets/tooltip.h"

#include <imgui.h>
#include <imgui_internal.h>

namespace attnscope {

void help_tooltip(std::string_view text, const Skin& skin) {
  constexpr float delay = 0.45F;  // seconds of rest
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_AllowWhenDisabled)) return;
  const ImGuiContext& context = *ImGui::GetCurrentContext();
  if (context.HoveredId != 0 && context.HoveredIdTimer < delay) return;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(skin.px(360));
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

}  // namespace attnscope
