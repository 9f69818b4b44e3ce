#include "workspaces/decoding/caption.h"

#include "widgets/tooltip.h"
#include "widgets/words.h"

namespace attnscope {

void draw_caption(const char* title, const std::string& words, std::string_view help, const Look& look) {
  bold_text(title, look);
  help_tooltip(help, look);
  ImGui::SameLine(0, look.px(8));
  // Half a word helps nobody, and the title's tooltip says more.
  if (ImGui::CalcTextSize(words.c_str()).x > ImGui::GetContentRegionAvail().x) return ImGui::NewLine();
  dim_text(words, look);
  help_tooltip(help, look);
}

}  // namespace attnscope
