#include "widgets/words.h"

#include <imgui.h>

namespace attnscope {

void bold_text(std::string_view text, const Skin& skin) {
  const WithFont bold(skin.fonts.bold);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
}

void dim_text(std::string_view text, const Skin& skin) {
  colored_text(skin.theme.text_dim, text);
}

void colored_text(Color32 color, std::string_view text) {
  ImGui::PushStyleColor(ImGuiCol_Text, color);
  ImGui::TextUnformatted(text.data(), text.data() + text.size());
  ImGui::PopStyleColor();
}

}  // namespace attnscope
