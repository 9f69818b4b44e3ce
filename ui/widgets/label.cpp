#include "widgets/label.h"

#include <algorithm>
#include <string>

#include "widgets/painter.h"

namespace attnscope {

void draw_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin) {
  Painter paint(skin);
  paint.text(font, ImGui::GetCursorScreenPos(), color, text);
  ImGui::Dummy(text_size(font, text.data(), text.data() + text.size()));
}

void draw_wrapped_label(ImFont* font, Color32 color, std::string_view text, const Skin& skin) {
  Painter paint(skin);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  float y = origin.y;
  for (const std::string_view line : wrapped_lines(font, text, width)) {
    paint.text(font, {origin.x, y}, color, line);
    y += font_size(font);
  }
  ImGui::Dummy({width, y - origin.y});
}

}  // namespace attnscope
