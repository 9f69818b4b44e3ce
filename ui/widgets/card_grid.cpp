#include "widgets/card_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/words.h"

namespace attnscope {
namespace {

// Three significant digits, and all digits of a large integer.
std::string range_end_text(float value) {
  return std::abs(value) >= 1000 && std::abs(value) < 1e6F ? fmt::format("{:.0f}", value)
                                                           : fmt::format("{:.3g}", value);
}

std::string range_text(const CardTitle& title) {
  if (title.low == -title.high) return "±" + range_end_text(title.high);
  return fmt::format("{}…{}{}", range_end_text(title.low), title.open ? "≥" : "", range_end_text(title.high));
}

// Returns the width used.
float draw_range(const CardTitle& title, ImVec2 right_end, const Skin& skin) {
  const float width = skin.px(40);
  const float bar = skin.px(9);
  std::array<Color32, 25> stops;
  for (std::size_t i = 0; i < stops.size(); ++i)
    stops[i] = map_color(title.map, static_cast<float>(i) / static_cast<float>(stops.size() - 1));
  Painter paint(skin);
  const std::string text = range_text(title);
  const float text_width = text_size(skin.fonts.small, text).x;
  const float line = font_size(skin.fonts.bold);
  const float y = right_end.y + (line - bar) / 2;
  paint.gradient({right_end.x - width, y}, {right_end.x, y + bar}, stops, false);
  paint.text(skin.fonts.small,
             {right_end.x - width - skin.px(5) - text_width, right_end.y + (line - font_size(skin.fonts.small)) / 2},
             skin.theme.text_dim, text);
  return width + text_width + skin.px(12);
}

}  // namespace

ImVec2 CardGrid::next() {
  if (column == columns) new_row();
  const float x = origin.x + gutter + static_cast<float>(column++) * (gutter + card.x);
  return {x, origin.y + y};
}

void CardGrid::new_row() {
  if (column > 0) y += card.y + row_gap;
  column = 0;
}

void CardGrid::end() {
  new_row();
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy({1, y});
}

CardGrid card_grid(float room, float least_width, int most_columns, float height, float gutter, const Skin& skin) {
  CardGrid grid;
  grid.origin = ImGui::GetCursorScreenPos();
  grid.gutter = gutter;
  grid.row_gap = skin.px(6);
  grid.columns = clamped(static_cast<int>(room / (least_width + gutter)), 1, most_columns);
  grid.card = {std::floor(room / static_cast<float>(grid.columns) - gutter), std::floor(height)};
  grid.card.x = std::max(1.0F, grid.card.x);
  return grid;
}

float card_title_height(const Skin& skin) {
  return font_size(skin.fonts.bold) + skin.px(3);
}

bool draw_card_title(const CardTitle& title, float width, const Skin& skin) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float room = std::max(skin.px(20), width - draw_range(title, {at.x + width, at.y}, skin));
  const std::string shown = shortened(skin.fonts.bold, title.title, room);
  const ImVec2 extent = text_size(skin.fonts.bold, shown);
  const bool clicked = ImGui::InvisibleButton("title", {std::max(1.0F, extent.x), extent.y});
  const bool lit = ImGui::IsItemHovered() || (ImGui::GetIO().NavVisible && ImGui::IsItemFocused());
  help_tooltip(shown == title.title ? title.help : title.title + "\n" + title.help, skin);
  Painter paint(skin);
  paint.text(skin.fonts.bold, at, lit ? skin.theme.accent : skin.theme.text, shown);
  ImGui::SetCursorScreenPos({at.x, at.y + card_title_height(skin)});
  return clicked;
}

}  // namespace attnscope
