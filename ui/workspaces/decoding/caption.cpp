#include "workspaces/decoding/caption.h"

#include "widgets/tooltip.h"

namespace attnscope {

void draw_caption(const char* title, const std::string& words, std::string_view help, const Look& look) {
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(title);
  }
  help_tooltip(help, look);
  ImGui::SameLine(0, look.px(8));
  // Half a word helps nobody, and the title's tooltip says more.
  if (ImGui::CalcTextSize(words.c_str()).x > ImGui::GetContentRegionAvail().x) return ImGui::NewLine();
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted(words.c_str());
  ImGui::PopStyleColor();
  help_tooltip(help, look);
}

}  // namespace attnscope
