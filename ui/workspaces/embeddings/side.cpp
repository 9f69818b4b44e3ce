#include <fmt/format.h>
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>

#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/embeddings/modes.h"

namespace attnscope {
namespace {

// ---- lists of tokens

// One line: the cosine as number and bar, and the token, which can be clicked.
void draw_neighbour(const EmbeddingResult& inspection, const Neighbour& neighbour, int rank, EmbeddingsView& view,
                    const Skin& skin) {
  const WithFont mono(skin.fonts.mono);
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, line = ImGui::GetTextLineHeight();
  const float full = clamped(neighbour.cosine, 0.0F, 1.0F) * width;
  Painter paint(skin);
  paint.filled_rect(corner, {corner.x + full, corner.y + line}, faded(skin.theme.accent, 0.18F), skin.px(2));
  ImGui::PushID(rank);
  ImGui::PushID(neighbour.id);
  if (ImGui::Selectable("##piece", false, 0, {width, line})) click_token(view, neighbour.id);
  ImGui::PopID();
  ImGui::PopID();
  if (ImGui::IsItemHovered()) {
    ImGui::BeginTooltip();
    plain_text(cosine_text(inspection, neighbour.id, neighbour.cosine));
    ImGui::EndTooltip();
  }
  const std::string number = number_text(static_cast<double>(neighbour.cosine), 3);
  paint.text(skin.fonts.mono, corner, skin.theme.text_dim, number);
  const float left = text_size(skin.fonts.mono, "−0.000 ").x;
  paint.text(skin.fonts.mono, {corner.x + left, corner.y}, skin.theme.text,
             shortened(skin.fonts.mono, name_of(*inspection.vocabulary, neighbour.id), width - left));
}

void draw_list(const EmbeddingResult& inspection, std::span<const Neighbour> list, EmbeddingsView& view,
               const Skin& skin) {
  int rank = 0;
  for (const Neighbour& neighbour : list) draw_neighbour(inspection, neighbour, rank++, view, skin);
}

// ---- the selected token

void draw_earlier_choice(const EmbeddingResult& inspection, EmbeddingsView& view, const Skin& skin) {
  ImGui::SetNextItemWidth(-1);
  const std::string shown = trf("step {}", grouped(inspection.earlier.step));
  const WithFont small(skin.fonts.small);
  if (begin_combo("##earlier", shown)) {
    for (const std::int64_t step : inspection.recorded_steps) {
      if (step >= inspection.step) break;
      if (ImGui::Selectable(trf("step {}", grouped(step)).c_str(), step == inspection.earlier.step))
        view.wanted.earlier = step;
    }
    ImGui::EndCombo();
  }
  help_tooltip(tr("A recorded step to compare with."), skin);
}

void draw_chosen(const EmbeddingResult& inspection, EmbeddingsView& view, const Skin& skin) {
  if (view.wanted.chosen.empty()) {
    return small_text(skin.theme.text_dim, tr("Click a token, or search for one, to list its neighbors here."), skin);
  }
  bold_text(view.wanted.chosen, skin);
  if (inspection.chosen < 0 || !inspection.chosen_problem.empty())
    return small_text(skin.theme.warning, tr_filled(inspection.chosen_problem), skin);
  help_tooltip(facts_text(inspection, inspection.chosen), skin);
  ImGui::SameLine(0, skin.px(8));
  quiet_words(tr("neighbors by cosine"),
              trf("cos(x, y) = x\u00B7y / (\u2016x\u2016 \u2016y\u2016) with every other token, in all {} dimensions "
                  "and not on the map.",
                  inspection.width),
              skin);
  const bool beside = !inspection.earlier.nearest.empty();
  if (!beside) {
    draw_list(inspection, inspection.neighbours.nearest, view, skin);
    const char* none =
        inspection.recorded_steps.empty()
            ? tr("Train to compare with an earlier step; embeddings are recorded with the attention maps.")
            : tr("There is no earlier recorded step to compare with.");
    return small_text(skin.theme.text_dim, none, skin);
  }
  if (!ImGui::BeginTable("neighbours", 2, ImGuiTableFlags_SizingStretchSame)) return;
  ImGui::TableNextColumn();
  small_text(skin.theme.text_dim,
             trf("step {}{}", grouped(inspection.step), inspection.recorded ? tr(", recorded") : tr(", now")), skin);
  ImGui::TableNextColumn();
  draw_earlier_choice(inspection, view, skin);
  ImGui::TableNextColumn();
  ImGui::PushID("now");
  draw_list(inspection, inspection.neighbours.nearest, view, skin);
  ImGui::PopID();
  ImGui::TableNextColumn();
  ImGui::PushID("earlier");
  draw_list(inspection, inspection.earlier.nearest, view, skin);
  ImGui::PopID();
  ImGui::EndTable();
}

// ---- analogies

void draw_slot(EmbeddingsView& view, int slot, float width, const Skin& skin) {
  std::string& word = view.wanted.analogy[static_cast<std::size_t>(slot)];
  ImGui::SetNextItemWidth(width);
  const bool picking = view.slot == slot;
  if (picking) ImGui::PushStyleColor(ImGuiCol_FrameBg, mixed(skin.theme.raised, skin.theme.accent, 0.35F));
  constexpr std::array hints = {"a", "b", "c"};
  ImGui::PushID(slot);
  ImGui::InputTextWithHint("##word", hints[static_cast<std::size_t>(slot)], &word);
  ImGui::PopID();
  if (picking) ImGui::PopStyleColor();
  help_tooltip(tr("Type a word, or click \u201CPick on the map\u201D and then three tokens."), skin);
}

void draw_analogy_words(EmbeddingsView& view, const Skin& skin) {
  const float gap = skin.px(6), room = ImGui::GetContentRegionAvail().x;
  const auto wide = [](const char* text) { return ImGui::CalcTextSize(text).x; };
  const float in_one_line = (room - wide(tr("is to")) - wide(tr("as")) - wide(tr("is to ?")) - 6 * gap) / 3;
  const bool breaks = in_one_line < skin.px(64);
  const float field =
      breaks ? std::max(skin.px(34), (room - wide(tr("as")) - wide(tr("is to ?")) - 3 * gap) / 2) : in_one_line;
  const auto say = [&](const char* text) {
    ImGui::AlignTextToFramePadding();
    dim_text(text, skin);
    ImGui::SameLine(0, gap);
  };
  draw_slot(view, 0, field, skin);
  ImGui::SameLine(0, gap);
  say(tr("is to"));
  draw_slot(view, 1, field, skin);
  if (!breaks) ImGui::SameLine(0, gap);
  say(tr("as"));
  draw_slot(view, 2, field, skin);
  ImGui::SameLine(0, gap);
  ImGui::AlignTextToFramePadding();
  dim_text(tr("is to ?"), skin);
}

void draw_analogy(const EmbeddingResult& inspection, EmbeddingsView& view, const Skin& skin) {
  bold_text(tr("Analogy"), skin);
  ImGui::SameLine(0, skin.px(8));
  quiet_words(tr("nearest to b \u2212 a + c"),
              tr("cos(v, b \u2212 a + c) for every token v except a, b and c (Mikolov et al. 2013). On the map the "
                 "arrows a \u2192 b and c \u2192 the first answer are similar where the analogy holds."),
              skin);
  draw_analogy_words(view, skin);
  if (draw_choice(view.slot < 0 ? tr_label("Pick on the map") : tr_label("Picking\u2026 click a token"), view.slot >= 0,
                  tr("The next three tokens that you click become a, b and c."), skin))
    view.slot = view.slot < 0 ? 0 : -1;
  end_choices();
  if (!inspection.analogy_problem.empty())
    return small_text(skin.theme.warning, tr_filled(inspection.analogy_problem), skin);
  ImGui::PushID("analogy");
  const std::size_t most = 5;
  draw_list(inspection, std::span(inspection.answers).first(std::min(most, inspection.answers.size())), view, skin);
  ImGui::PopID();
}

}  // namespace

void draw_embedding_side(EmbeddingsView& view, const Skin& skin) {
  const EmbeddingResult& inspection = *view.inspection;
  draw_chosen(inspection, view, skin);
  ImGui::Dummy({1, skin.px(6)});
  draw_analogy(inspection, view, skin);
}

}  // namespace attnscope
