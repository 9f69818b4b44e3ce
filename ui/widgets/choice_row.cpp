#include "widgets/choice_row.h"

#include "widgets/tooltip.h"

namespace attnscope {

bool draw_choice(const char* title, bool chosen, std::string_view help, const Look& look) {
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
