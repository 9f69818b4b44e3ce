#include "widgets/choice_row.h"

#include "widgets/tooltip.h"

namespace attnscope {

void break_choices(const char* title) {
  const float width = ImGui::CalcTextSize(title, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

bool draw_choice(const char* title, bool chosen, std::string_view help, const Skin& skin) {
  break_choices(title);
  ImGui::PushStyleColor(ImGuiCol_Button, chosen ? skin.theme.raised : 0);
  ImGui::PushStyleColor(ImGuiCol_Text, chosen ? skin.theme.text : skin.theme.text_dim);
  const bool clicked = ImGui::SmallButton(title);
  ImGui::PopStyleColor(2);
  help_tooltip(help, skin);
  ImGui::SameLine(0, skin.px(4));
  return clicked;
}

void end_choices() {
  ImGui::NewLine();
}

}  // namespace attnscope
