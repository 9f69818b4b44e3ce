#include "widgets/choice_row.h"

#include "widgets/tooltip.h"

namespace attnscope {

void break_choices(const char* title) {
  const float width = ImGui::CalcTextSize(title, nullptr, true).x + 2 * ImGui::GetStyle().FramePadding.x;
  if (ImGui::GetContentRegionAvail().x < width) ImGui::NewLine();
}

bool draw_choice(const char* title, bool chosen, std::string_view help, const Look& look) {
  break_choices(title);
  ImGui::PushStyleColor(ImGuiCol_Button, chosen ? look.theme.raised : 0);
  ImGui::PushStyleColor(ImGuiCol_Text, chosen ? look.theme.text : look.theme.text_dim);
  const bool clicked = ImGui::SmallButton(title);
  ImGui::PopStyleColor(2);
  help_tooltip(help, look);
  ImGui::SameLine(0, look.px(4));
  return clicked;
}

void end_choices() {
  ImGui::NewLine();
}

}  // namespace attnscope
