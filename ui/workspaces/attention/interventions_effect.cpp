#include "workspaces/attention/interventions_effect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "widgets/painter.h"
#include "widgets/tooltip.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr std::size_t words_before = 2;  // of what is the same, before the first word that differs

std::string joined(std::span<const ComparedWord> words) {
  std::string text;
  for (const ComparedWord& word : words) text += (text.empty() ? "" : " ") + word.word;
  return text.empty() ? "(nothing)" : text;
}

// Where to begin so that a line shows what differs, if it has not room for all.
std::size_t first_shown(std::span<const ComparedWord> words, float room) {
  if (ImGui::CalcTextSize(joined(words).c_str()).x <= room) return 0;
  const auto differs = std::ranges::find(words, true, &ComparedWord::differs);
  const auto index = static_cast<std::size_t>(differs - words.begin());
  return differs == words.end() || index < words_before ? 0 : index - words_before;
}

// One line: the output, what differs in `color`; cut off at the right, whole in the tooltip.
void draw_output(const char* label, std::span<const ComparedWord> words, Color32 color, const Skin& skin) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = std::max(1.0F, ImGui::GetContentRegionAvail().x);
  const float line = font_size(skin.fonts.ui);
  ImGui::Dummy({width, line});
  help_tooltip(joined(words), skin);
  Painter paint(skin);
  paint.push_clip(at, {at.x + width, at.y + line + 1});
  paint.text(skin.fonts.ui, at, skin.theme.text_dim, label);
  float x = at.x + skin.px(46);
  const auto put = [&](const std::string& text, Color32 ink) {
    paint.text(skin.fonts.ui, {x, at.y}, ink, text);
    x += ImGui::CalcTextSize((text + " ").c_str()).x;
  };
  const std::size_t first = first_shown(words, width - skin.px(46));
  if (first > 0) put("…", skin.theme.text_dim);
  if (words.empty()) put("(nothing)", skin.theme.text_dim);
  for (const ComparedWord& word : words.subspan(first)) put(word.word, word.differs ? color : skin.theme.text);
  paint.pop_clip();
}

// A piece of the reference over two bars: its probability without and with the interventions.
float draw_gold_piece(Painter& paint, float before, const GoldStep& after, ImVec2 at, const Skin& skin) {
  const float width = std::max(text_size(skin.fonts.mono_small, after.token.piece.c_str()).x, skin.px(14));
  const float line = font_size(skin.fonts.mono_small);
  const bool fell = after.probability < before / 2;
  paint.text(skin.fonts.mono_small, at, fell ? skin.theme.warning : skin.theme.text, after.token.piece);
  const auto bar = [&](float top, float share, Color32 color) {
    const float height = skin.px(3);
    paint.filled_rect({at.x, at.y + line + top}, {at.x + width, at.y + line + top + height}, skin.theme.raised);
    paint.filled_rect({at.x, at.y + line + top}, {at.x + width * share, at.y + line + top + height}, color);
  };
  bar(skin.px(1), before, skin.theme.text_dim);
  bar(skin.px(5), after.probability, skin.theme.accent);
  return width;
}

void gold_tooltip(float before, const GoldStep& after, const Skin& skin) {
  ImGui::BeginTooltip();
  {
    const WithFont mono(skin.fonts.mono);
    ImGui::TextUnformatted(after.token.piece.c_str());
  }
  ImGui::Text("p = %.4g untouched, %.4g now", static_cast<double>(before), static_cast<double>(after.probability));
  if (after.rank > 1) ImGui::Text("now number %d; the model would write %s", after.rank, after.best.piece.c_str());
  ImGui::EndTooltip();
}

void draw_gold(const Snapshot& snapshot, const LookDifference& difference, const Skin& skin) {
  const std::vector<GoldStep>& after = snapshot.gold;
  if (after.empty()) return;
  const std::string sum =
      fmt::format("Σ ln p of the {} {:.2f} → {:.2f}", difference.reference ? "reference" : "untouched output",
                  difference.log_prob_before, difference.log_prob_after);
  ImGui::TextUnformatted(sum.c_str());
  help_tooltip(
      "How probable every piece is when the ones before it are given, without and with the interventions (the bars: "
      "grey "
      "untouched, coloured now).",
      skin);
  ImGui::SameLine(0, skin.px(12));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float right = origin.x + ImGui::GetContentRegionAvail().x;
  const float height = font_size(skin.fonts.mono_small) + skin.px(9);
  Painter paint(skin);
  float x = origin.x;
  for (std::size_t i = 0; i < after.size() && x < right; ++i) {
    const float width = draw_gold_piece(paint, difference.gold_before[i], after[i], {x, origin.y}, skin);
    if (ImGui::IsMouseHoveringRect({x, origin.y}, {x + width, origin.y + height}) && ImGui::IsWindowHovered())
      gold_tooltip(difference.gold_before[i], after[i], skin);
    x += width + skin.px(4);
  }
  ImGui::Dummy({std::max(1.0F, right - origin.x), height});
}

void draw_largest(const Snapshot& snapshot, const WeightChange& largest, AttentionView& view, const Skin& skin) {
  const auto name = [](const std::vector<Token>& tokens, int index) {
    return tokens[static_cast<std::size_t>(index)].piece;
  };
  const std::string text =
      fmt::format("{}: {} → {} {:.2f} → {:.2f}", title_of(largest.place, snapshot.model),
                  name(row_tokens(snapshot, largest.place.part), largest.query),
                  name(col_tokens(snapshot, largest.place.part), largest.key), largest.before, largest.after);
  ImGui::AlignTextToFramePadding();
  dim_text("largest change", skin);
  ImGui::SameLine(0, skin.px(8));
  if (ImGui::SmallButton(text.c_str())) {
    select(view, largest.place);
    view.pinned_row = largest.query;
    view.pinned_col = largest.key;
  }
  help_tooltip(
      "Of all attention weights the one that moved most, beside those that were set by hand; only where the query saw "
      "the same pieces in both. Click: goes there.",
      skin);
}

void refresh(InterventionsView& intervention, const std::shared_ptr<const Snapshot>& snapshot) {
  if (intervention.compared == snapshot) return;
  intervention.difference = std::make_shared<const LookDifference>(look_difference(*snapshot));
  intervention.compared = snapshot;
}

}  // namespace

void draw_effect(const ShownMaps& maps, AttentionView& view, const Skin& skin) {
  const std::shared_ptr<const Snapshot>& snapshot = maps.complete.snapshot;
  if (snapshot && is_recorded(*snapshot)) return dim_text(recorded_note, skin);
  if (!snapshot || !snapshot->untouched) return dim_text("looking…", skin);
  refresh(view.intervention, snapshot);
  const LookDifference& difference = *view.intervention.difference;
  draw_output("then", difference.before, skin.theme.success, skin);
  draw_output("now", difference.after, skin.theme.warning, skin);
  draw_gold(*snapshot, difference, skin);
  if (difference.largest) draw_largest(*snapshot, *difference.largest, view, skin);
}

}  // namespace attnscope
