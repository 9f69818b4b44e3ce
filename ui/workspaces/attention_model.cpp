#include "workspaces/attention_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "widgets/heatmap.h"
#include "widgets/tooltip.h"
#include "workspaces/attention_text.h"

namespace attnscope {
namespace {

constexpr std::array parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

// The side of a thumbnail with which the groups fill the column.
float cell_side(const ShownMaps& maps, ImVec2 space, const Look& look) {
  int rows = 0;
  int groups = 0;
  int heads = 1;
  for (const AttentionPart part : parts) {
    if (maps.lacks(part)) continue;
    const AttentionMaps& layers = maps_of(*maps.of(part).snapshot, part);
    rows += static_cast<int>(layers.size());
    groups += 1;
    heads = std::max(heads, heads_of(layers));
  }
  const float gap = look.px(5);
  const float heading = font_size(look.fonts.ui) + font_size(look.fonts.mono_small) + look.px(18);
  const float by_width = (space.x - look.px(26)) / static_cast<float>(heads) - gap;
  const float by_height =
      (space.y - heading * static_cast<float>(groups)) / static_cast<float>(std::max(1, rows)) - gap;
  // Below this nothing can be told apart: the column scrolls instead.
  return std::floor(std::clamp(std::min(by_width, std::max(by_height, look.px(30))), look.px(18), look.px(150)));
}

void thumbnail_tooltip(const Matrix& map, const std::string& title) {
  ImGui::BeginTooltip();
  ImGui::TextUnformatted(title.c_str());
  ImGui::Text("mean entropy of a row: %.2f nats", static_cast<double>(mean_row_entropy(map)));
  ImGui::EndTooltip();
}

void draw_group_heading(const PartText& text, const Look& look) {
  {
    const WithFont bold(look.fonts.bold);
    ImGui::TextUnformatted(text.name);
  }
  help_tooltip(text.help, look);
  ImGui::SameLine(0, look.px(6));
  if (ImGui::CalcTextSize(text.what).x < ImGui::GetContentRegionAvail().x) {
    ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
    ImGui::TextUnformatted(text.what);
    ImGui::PopStyleColor();
    help_tooltip(text.help, look);
  } else {
    ImGui::NewLine();
  }
}

// Draws a group's heads, layers from top to bottom; a click selects.
void draw_group(const Shown& shown, AttentionPart part, float cell, AttentionView& view, TextureStore& textures,
                const Look& look) {
  ImGui::PushID(static_cast<int>(part));
  draw_group_heading(text_of(part, shown.snapshot->model), look);
  const AttentionMaps& maps = maps_of(*shown.snapshot, part);
  const WithFont font(look.fonts.mono_small);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float left = look.px(24);
  const float top = ImGui::GetFontSize() + look.px(2);
  const float pitch = cell + look.px(5);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  for (int layer = 0; layer < static_cast<int>(maps.size()); ++layer) {
    const float y = origin.y + top + static_cast<float>(layer) * pitch;
    list.AddText(ImVec2(origin.x, y + (cell - ImGui::GetFontSize()) * 0.5F), look.theme.text_dim,
                 fmt::format("L{}", layer + 1).c_str());
    const auto& heads = maps[static_cast<std::size_t>(layer)];
    for (int head = 0; head < static_cast<int>(heads.size()); ++head) {
      const float x = origin.x + left + static_cast<float>(head) * pitch;
      const std::string name = fmt::format("H{}", head + 1);
      if (layer == 0 && (cell >= look.px(22) || head % 2 == 0)) {
        const float width = ImGui::CalcTextSize(name.c_str()).x;
        list.AddText(ImVec2(x + (cell - width) * 0.5F, origin.y), look.theme.text_dim, name.c_str());
      }
      ImGui::SetCursorScreenPos(ImVec2(x, y));
      const Matrix& map = heads[static_cast<std::size_t>(head)];
      const HeadPlace place{part, layer, head};
      const std::string id = fmt::format("{}.{}", layer, head);
      ThumbnailOptions options;
      options.high = brightest(map, view.full_contrast);
      options.mask_upper = part == AttentionPart::decoder;
      options.selected = view.place() == place;
      if (draw_thumbnail(id.c_str(), map, shown.version, ImVec2(cell, cell), options, textures, look)) {
        select(view, place);
      }
      if (ImGui::IsItemHovered()) thumbnail_tooltip(map, title_of(place, shown.snapshot->model));
    }
  }
  ImGui::SetCursorScreenPos(origin);
  ImGui::Dummy(ImVec2(left + pitch * static_cast<float>(heads_of(maps)),
                      top + pitch * static_cast<float>(maps.size()) + look.px(6)));
  ImGui::PopID();
}

}  // namespace

void draw_heads(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Look& look) {
  const float cell = cell_side(maps, ImGui::GetContentRegionAvail(), look);
  for (const AttentionPart part : parts) {
    if (!maps.lacks(part)) draw_group(maps.of(part), part, cell, view, textures, look);
  }
}

}  // namespace attnscope
