#include "workspaces/attention/inside.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "widgets/heatmap.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "widgets/wrapped_row.h"
#include "workspaces/attention/inside_cards.h"
#include "workspaces/attention/inside_mask.h"
#include "workspaces/attention/inside_scaling.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

bool is_off(const Snapshot& snapshot, const HeadPlace& place) {
  const LayerPlace layer{place.part != AttentionPart::encoder, place.layer};
  return std::ranges::find(snapshot.changes.layers_off, layer) != snapshot.changes.layers_off.end();
}

// Makes the numbers anew if they are of another look or mask.
void refresh(AttentionView& view, const std::shared_ptr<const Snapshot>& snapshot) {
  InsideView& inside = view.inside;
  CellMask mask = shown_mask(view, *snapshot->inside);
  if (inside.numbers && inside.numbers->snapshot == snapshot && inside.numbers->mask == mask) return;
  HeadNumbers numbers = head_numbers(snapshot, mask);
  numbers.version = ++inside.versions;
  inside.numbers = std::make_shared<const HeadNumbers>(std::move(numbers));
}

void draw_controls(const HeadCards& cards, AttentionView& view, const Skin& skin) {
  const Snapshot& snapshot = *cards.numbers.snapshot;
  ImGui::AlignTextToFramePadding();
  {
    const WithFont bold(skin.fonts.bold);
    ImGui::TextUnformatted(title_of(view.place(), snapshot.model).c_str());
  }
  help_tooltip(
      "This head's own numbers for this sentence, from its queries and keys to what the sublayer gives. Point at a "
      "cell "
      "to see how it came about and what it was made from; click it to keep its row.",
      skin);
  ImGui::SameLine(0, skin.px(10));
  ImGui::Dummy({0, 0});
  constexpr const char* compare = "Compare √d_k";
  next_checkbox_in_row(compare, skin);
  ImGui::Checkbox(compare, &view.inside.compare);
  help_tooltip(
      "The same scores with and without the division by √d_k: how far apart they lie, how sharp the weights become and "
      "how little gradient the softmax then lets through (paper §3.2.1, footnote 4).",
      skin);
  draw_mask_buttons(view, cards.numbers, cards.keys, skin);
}

}  // namespace

void draw_inside(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (maps.lacks(view.part)) return draw_quiet_note("decoding…", room, skin);
  const Shown& shown = maps.of(view.part);
  clamp_to(view, *shown.snapshot);
  if (is_off(*shown.snapshot, view.place()))
    return draw_quiet_note("This layer is switched off: it passes its input on, and no head of it works.", room, skin);
  if (!shown.snapshot->inside || shown.snapshot->inside->place != view.place())
    return draw_quiet_note("looking…", room, skin);
  refresh(view, shown.snapshot);
  const std::shared_ptr<const HeadNumbers> numbers = view.inside.numbers;
  const HeadCards cards{*numbers, token_labels(row_tokens(*shown.snapshot, view.part)),
                        token_labels(col_tokens(*shown.snapshot, view.part))};
  draw_controls(cards, view, skin);
  ImGui::BeginChild("stages", ImVec2(0, 0), false, ImGuiWindowFlags_NoNavInputs);
  if (view.inside.compare) draw_scaling(cards, textures, skin);
  draw_cards(cards, view, textures, skin);
  ImGui::EndChild();
}

}  // namespace attnscope
