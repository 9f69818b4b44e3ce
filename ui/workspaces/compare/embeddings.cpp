#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "base/translation.h"
#include "common/clamped.h"
#include "messages/embeddings.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/compare/view.h"
#include "workspaces/embeddings/view.h"

namespace attnscope {
namespace {

void draw_neighbours(const char* id, const std::string& name, Color32 color, const std::vector<ComparedNeighbour>& list,
                     const Skin& skin) {
  ImGui::TableNextColumn();
  draw_side_name(id, name, color, skin);
  for (const ComparedNeighbour& neighbour : list) {
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x * clamped(neighbour.cosine, 0.0F, 1.0F);
    Painter(skin).filled_rect(corner, {corner.x + width, corner.y + ImGui::GetTextLineHeight()}, faded(color, 0.18F),
                              skin.px(2));
    draw_label(skin.fonts.mono, skin.theme.text_dim, fmt::format("{:.3f}", neighbour.cosine), skin);
    ImGui::SameLine(0, skin.px(8));
    draw_label(skin.fonts.mono, neighbour.shared ? skin.theme.text : color, token_name(neighbour.token), skin);
  }
}

}  // namespace

void draw_both_embeddings(BothContext& context) {
  const Skin& skin = context.skin;
  EmbeddingsView& view = context.views.of<EmbeddingsView>();
  const Shown& a = context.a.complete;
  const Shown& b = context.b.complete;
  if (!a.snapshot || !b.snapshot)
    return draw_quiet_note(tr("Reading the embeddings of both models…"), ImGui::GetContentRegionAvail(), skin);
  ImGui::SetNextItemWidth(skin.px(220));
  ImGui::InputTextWithHint("##chosen", tr("a word or token"), &view.wanted.chosen);
  help_tooltip(tr("Lists the neighbors of this word or token in both models. The vectors themselves cannot be "
                  "subtracted: each model has its own axes."),
               skin);
  const ComparedNeighbours compared = compare_neighbours(*a.snapshot, *b.snapshot);
  if (!compared.why_not.empty())
    return draw_quiet_note(tr_filled(compared.why_not).c_str(), ImGui::GetContentRegionAvail(), skin);
  const std::string same = trf("{} of {} neighbors by cosine are the same; those in only one list are colored",
                               compared.shared, compared.a.size());
  next_in_row(text_size(skin.fonts.ui, same).x, skin.px(12));
  draw_wrapped_label(skin.fonts.ui, skin.theme.text_dim, same, skin);
  if (!ImGui::BeginTable("neighbours of both", 2, ImGuiTableFlags_SizingStretchSame)) return;
  draw_neighbours("A", context.name_a, color_of_a(skin), compared.a, skin);
  draw_neighbours("B", context.name_b, color_of_b(skin), compared.b, skin);
  ImGui::EndTable();
}

}  // namespace attnscope
