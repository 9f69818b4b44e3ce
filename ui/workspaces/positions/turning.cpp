#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/positions/modes.h"

namespace attnscope {
namespace {

double degrees(double angle) {
  return std::remainder(angle, 2 * std::numbers::pi) * 180 / std::numbers::pi;
}

void draw_position(const char* word, int& position, Color32 color, const char* help, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  colored_text(color, word);
  help_tooltip(help, skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(skin.px(120));
  ImGui::PushID(word);
  number_slider("##position", position, 0, last_position, "%d", ImGuiSliderFlags_AlwaysClamp, skin);
  ImGui::PopID();
  help_tooltip(help, skin);
}

void draw_controls(TurningView& view, const Skin& skin) {
  draw_position(tr("query at m"), view.query, skin.theme.series[0],
                tr("The query's position. Keys: \u2190 and \u2192."), skin);
  next_in_row(skin.px(200), skin.px(14));
  draw_position(tr("key at n"), view.key, skin.theme.series[1], tr("The key's position. Keys: \u2191 and \u2193."),
                skin);
  next_in_row(button_width(tr("Move both")), skin.px(12));
  if (ImGui::Button(tr_label("Move both"))) move_both(view);
  help_tooltip(tr("Moves both one position further: every arrow rotates, but no product changes. Key: Enter."), skin);
}

void draw_arrow(Painter& paint, ImVec2 center, float length, double angle, Color32 color, float thickness) {
  const auto at = [&](float far, double by) {
    return ImVec2{center.x + far * static_cast<float>(std::cos(angle + by)),
                  center.y - far * static_cast<float>(std::sin(angle + by))};
  };
  paint.line(center, at(length, 0), color, thickness);
  for (const double by : {0.22, -0.22}) paint.line(at(length, 0), at(length * 0.78F, by), color, thickness);
}

void pair_tooltip(const TurningView& view, int pair) {
  const double theta = rope_angle(pair, view.width, view.base);
  const double apart = (view.query - view.key) * theta;
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(trf("dimensions {} and {}", 2 * pair, 2 * pair + 1).c_str());
  ImGui::TextUnformatted(
      trf("\u03B8 = {}^(\u2212{}/{}) = {:.4g} per position", view.base, 2 * pair, view.width, theta).c_str());
  ImGui::TextUnformatted(
      trf("query: {} \u03B8 = {}\u00B0", view.query, number_text(degrees(view.query * theta), 1)).c_str());
  ImGui::TextUnformatted(trf("key: {} \u03B8 = {}\u00B0", view.key, number_text(degrees(view.key * theta), 1)).c_str());
  ImGui::TextUnformatted(trf("between them ({} \u2212 {}) \u03B8 = {}\u00B0, product cos = {}", view.query, view.key,
                             number_text(degrees(apart), 1), number_text(std::cos(apart), 4))
                             .c_str());
  ImGui::EndTooltip();
}

// One pair of dimensions: the rotated components of query and key, and the angle between them.
void draw_pair(const TurningView& view, int pair, ImVec2 corner, float side, const Skin& skin) {
  Painter paint(skin);
  const double theta = rope_angle(pair, view.width, view.base);
  const float radius = side / 2 - skin.px(4);
  const ImVec2 center{corner.x + side / 2, corner.y + side / 2};
  std::vector<ImVec2> circle;
  for (int i = 0; i <= 48; ++i) {
    const double angle = 2 * std::numbers::pi * i / 48;
    circle.push_back({center.x + radius * static_cast<float>(std::cos(angle)),
                      center.y + radius * static_cast<float>(std::sin(angle))});
  }
  paint.polyline(circle, skin.theme.border, skin.px(1));
  draw_arrow(paint, center, radius, view.key * theta, skin.theme.series[1], skin.px(2));
  draw_arrow(paint, center, radius * 0.86F, view.query * theta, skin.theme.series[0], skin.px(2));
  const std::string angle = fmt::format("{}\u00B0", number_text(degrees((view.query - view.key) * theta), 0));
  const ImVec2 size = text_size(skin.fonts.mono_small, angle);
  paint.text(skin.fonts.mono_small, {center.x - size.x / 2, corner.y + side}, skin.theme.text_dim, angle);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy({side, side + size.y});
  if (ImGui::IsItemHovered()) pair_tooltip(view, pair);
}

// Draws all pairs in rows, as large as they fit into that height.
void draw_pairs(const TurningView& view, ImVec2 room, const Skin& skin) {
  const int pairs = view.width / 2;
  const float line = font_size(skin.fonts.mono_small) + skin.px(4), gap = skin.px(6);
  int rows = 1;
  float side = 0;
  for (int tried = 1; tried <= pairs; ++tried) {
    const int cols = (pairs + tried - 1) / tried;
    const float fits =
        std::min((room.x + gap) / static_cast<float>(cols) - gap, room.y / static_cast<float>(tried) - line);
    if (fits <= side) continue;
    side = fits;
    rows = tried;
  }
  const int cols = (pairs + rows - 1) / rows;
  side = std::floor(clamped(side, skin.px(12), skin.px(110)));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  for (int pair = 0; pair < pairs; ++pair)
    draw_pair(view, pair,
              {origin.x + static_cast<float>(pair % cols) * (side + gap),
               origin.y + static_cast<float>(pair / cols) * (side + line)},
              side, skin);
  ImGui::SetCursorScreenPos({origin.x, origin.y + static_cast<float>(rows) * (side + line)});
  ImGui::Dummy({1, 1});
}

}  // namespace

void draw_turning(WorkspaceContext& context, PositionsView& positions) {
  const Skin& skin = context.skin;
  TurningView& view = positions.turning;
  if (context.live && !context.live->model.is_recurrent())
    view.width = static_cast<int>(context.live->model.head_width()) / 2 * 2;
  view.base = context.live ? context.live->model.rope_theta : ModelConfig().rope_theta;
  settle(view);
  draw_controls(view, skin);
  draw_wrapped_label(skin.fonts.small, skin.theme.text_dim,
                     trf("RoPE rotates each pair of a head\u2019s {} dimensions by position \u00B7 \u03B8_i, with "
                         "\u03B8_i = {}^(\u22122i/d), the same for query (blue) and key: the first pair by one radian "
                         "per position, the last by almost nothing. Below each circle is the angle between them, (m "
                         "\u2212 n) \u03B8_i: only the distance matters.",
                         view.width, view.base),
                     skin);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  draw_pairs(view, {room.x, std::floor(room.y * 0.56F)}, skin);
  const int apart = std::abs(view.query - view.key);
  view.axis.marker = apart;
  const PlotLine line{.name = tr("q\u00B7k"), .series = &view.product, .color = skin.theme.series[0]};
  draw_plot("product", {&line, 1}, {0, 0}, view.axis, view.plot,
            {.title = tr("q\u00B7k by distance"),
             .help = tr("For a query and a key that are the same vector before rotation, of length 1 and equal in all "
                        "pairs: the mean of cos((m \u2212 n) \u03B8_i) over the pairs. It is 1 at distance 0 and falls "
                        "in waves as the distance grows."),
             .x_label = tr("distance |m \u2212 n|")},
            skin);
}

}  // namespace attnscope
