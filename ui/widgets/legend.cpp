#include "widgets/legend.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "widgets/painter.h"

namespace attnscope {
namespace {

std::string end_text(float value) {
  return fmt::format("{:.3g}", value);
}

}  // namespace

void draw_legend(ColorMap map, float low, float high, ImVec2 size, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  Painter paint(skin);
  const std::string low_text = end_text(low);
  const std::string high_text = end_text(high);
  ImFont* font = skin.fonts.small;
  const float line = font_size(font);
  const bool upright = size.y > size.x;
  const float bar = skin.px(10);
  const float length = upright ? size.y : size.x;
  std::array<Color32, 49> stops;
  for (std::size_t i = 0; i < stops.size(); ++i)
    stops[i] = map_color(map, static_cast<float>(i) / static_cast<float>(stops.size() - 1));
  const ImVec2 end = upright ? ImVec2{origin.x + bar, origin.y + length} : ImVec2{origin.x + length, origin.y + bar};
  paint.gradient(origin, end, stops, upright);
  const Color32 ink = skin.theme.text_dim;
  if (upright) {
    const float x = origin.x + bar + skin.px(4);
    paint.text(font, {x, origin.y - line * 0.15F}, ink, high_text);
    paint.text(font, {x, origin.y + length - line * 0.9F}, ink, low_text);
  } else {
    const float y = origin.y + bar + skin.px(1);
    paint.text(font, {origin.x, y}, ink, low_text);
    paint.text(font, {origin.x + length - text_size(font, high_text.c_str()).x, y}, ink, high_text);
  }
  ImGui::Dummy(size);
}

}  // namespace attnscope
