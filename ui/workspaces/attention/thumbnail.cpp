#include "workspaces/attention/thumbnail.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/input.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

// In the lower left corner, where the look-ahead mask hides nothing.
void draw_uniform_mark(ImVec2 low, ImVec2 size, const Skin& skin) {
  Painter paint(skin);
  ImFont* font = skin.fonts.mono_small;
  const ImVec2 sign = text_size(font, "≈");
  const bool room = std::min(size.x, size.y) > 3 * sign.x;
  const ImVec2 extent = room ? ImVec2(sign.x + skin.px(4), sign.y) : ImVec2(skin.px(5), skin.px(5));
  const ImVec2 corner{low.x, low.y + size.y - extent.y};
  paint.filled_rect(corner, {corner.x + extent.x, corner.y + extent.y}, skin.theme.warning);
  if (room) paint.text(font, {corner.x + skin.px(2), corner.y}, text_on(skin.theme.warning), "≈");
}

void tell_measures(const MapMeasures& measures, const Skin& skin) {
  ImGui::Text("mean entropy of a row: %.2f of at most %.2f nats", static_cast<double>(measures.entropy),
              static_cast<double>(measures.most_entropy));
  ImGui::Text("mean distance |query − key|: %.1f pieces", static_cast<double>(measures.distance));
  if (!near_uniform(measures)) return;
  colored_text(skin.theme.warning, "near-uniform: untrained or idle");
}

void draw_tooltip(const Shown& shown, const HeadPlace& place, const AttentionView& view, const Skin& skin) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(title_of(place, shown.snapshot->model).c_str());
  if (const MapMeasures* measures = measures_at(view.measures, place)) tell_measures(*measures, skin);
  ImGui::TextDisabled("click: select   Shift + click: together, in colours   double-click: open");
  ImGui::EndTooltip();
}

void take_click(AttentionView& view, const HeadPlace& place) {
  if (modifiers().shift) return toggle_together(view, place);
  if (view.place() != place || !view.together.empty()) select(view, place);
}

}  // namespace

void draw_head_thumbnail(const Shown& shown, const HeadPlace& place, ImVec2 size, AttentionView& view,
                         TextureStore& textures, const Skin& skin) {
  const Matrix& map =
      maps_of(*shown.snapshot, place.part)[static_cast<std::size_t>(place.layer)][static_cast<std::size_t>(place.head)];
  const ImVec2 low = ImGui::GetCursorScreenPos();
  const Color32 color = color_of(view, place, skin.theme);
  ThumbnailOptions options;
  options.high = brightest(view, place);
  options.mask_upper = place.part == AttentionPart::decoder;
  options.selected = color != 0;
  if (!view.together.empty()) options.frame = color;
  const std::string id = fmt::format("{}.{}.{}", static_cast<int>(place.part), place.layer, place.head);
  if (draw_thumbnail(id.c_str(), map, shown.version, size, options, textures, skin)) take_click(view, place);
  if (ImGui::IsItemHovered()) {
    draw_tooltip(shown, place, view, skin);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      select(view, place);
      view.level = AttentionLevel::head;
    }
  }
  const MapMeasures* measures = measures_at(view.measures, place);
  if (measures && near_uniform(*measures)) draw_uniform_mark(low, size, skin);
}

}  // namespace attnscope
