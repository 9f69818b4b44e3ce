#include "workspaces/decoding/caption.h"

#include "widgets/tooltip.h"
#include "widgets/words.h"

namespace attnscope {

void draw_caption(const char* title, const std::string& words, std::string_view help, const Skin& skin) {
  bold_text(title, skin);
  help_tooltip(help, skin);
  ImGui::SameLine(0, skin.px(8));
  // Half a word helps nobody, and the title's tooltip says more.
  if (ImGui::CalcTextSize(words.c_str()).x > ImGui::GetContentRegionAvail().x) return ImGui::NewLine();
  dim_text(words, skin);
  help_tooltip(help, skin);
}

}  // namespace attnscope
