#include "workspaces/attention/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/input.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/heatmap.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/inside_cards.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

bool is_off(const Snapshot& snapshot, const HeadPlace& place) {
  return std::ranges::find(snapshot.interventions.layers_off, layer_of(place)) !=
         snapshot.interventions.layers_off.end();
}

// Recomputes the numbers if the snapshot or the mask changed.
void refresh(AttentionView& view, const std::shared_ptr<const Snapshot>& snapshot) {
  InsideView& inside = view.inside;
  CellMask mask = shown_mask(view, *snapshot->inside);
  // While the mask is being painted, the change is visible only here.
  if (inside.brush && inside.numbers && inside.numbers->mask.hidden.size() == mask.hidden.size())
    mask = inside.numbers->mask;
  if (inside.numbers && inside.numbers->snapshot == snapshot && inside.numbers->mask == mask) return;
  HeadNumbers numbers = head_numbers(snapshot, mask);
  numbers.version = ++inside.versions;
  inside.numbers = std::make_shared<const HeadNumbers>(std::move(numbers));
}

void draw_controls(const HeadCards& cards, AttentionView& view, const Skin& skin) {
  const Snapshot& snapshot = *cards.numbers.snapshot;
  ImGui::AlignTextToFramePadding();
  bold_text(title_of(view.place(), snapshot.model), skin);
  help_tooltip(tr("This head's numbers for this sentence, from queries and keys to the sublayer's output. Point at a "
                  "cell to see how it is computed; click it to pin its row."),
               skin);
  ImGui::SameLine(0, skin.px(10));
  ImGui::Dummy({0, 0});
  const char* compare = tr_label("Compare √d_k");
  next_in_row(checkbox_width(compare), skin.px(6));
  ImGui::Checkbox(compare, &view.inside.compare);
  help_tooltip(tr("Compares the scores with and without division by √d_k: how far apart they are, how sharp the "
                  "weights become and how little gradient the softmax lets through (paper §3.2.1, footnote 4)."),
               skin);
  draw_mask_buttons(view, cards.numbers, cards.keys, skin);
}

// ---- with and without division by √d_k

struct Side {
  bool scaled;
  bool of_model;  // the model's own scaling
  const HeadStages& stages;
  const Spread& spread;
};

void draw_bars(const HeadNumbers& numbers, const Spread& spread, ImVec2 size, const Skin& skin) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  help_tooltip(tr("Histogram of the unmasked scores; both pictures share one axis. Scores that are far apart saturate "
                  "the softmax."),
               skin);
  Painter paint(skin);
  const float line = font_size(skin.fonts.small);
  const ImVec2 base{origin.x, origin.y + size.y - line - skin.px(2)};
  const int most = std::max(1, *std::ranges::max_element(spread.histogram));
  const float width = size.x / static_cast<float>(spread.histogram.size());
  for (std::size_t i = 0; i < spread.histogram.size(); ++i) {
    const float height = (base.y - origin.y) * static_cast<float>(spread.histogram[i]) / static_cast<float>(most);
    if (height <= 0) continue;
    const float x = origin.x + width * static_cast<float>(i);
    paint.filled_rect({x, base.y - std::max(1.0F, height)}, {x + width - 1, base.y}, skin.theme.series[0]);
  }
  paint.line(base, {base.x + size.x, base.y}, skin.theme.border);
  const std::string high = fmt::format("{:.3g}", numbers.highest);
  paint.text(skin.fonts.small, {base.x, base.y + skin.px(2)}, skin.theme.text_dim,
             trf("scores from {:.3g}", numbers.lowest));
  paint.text(skin.fonts.small, {base.x + size.x - text_size(skin.fonts.small, high).x, base.y + skin.px(2)},
             skin.theme.text_dim, high);
}

void draw_measures(const Spread& spread, int keys, const Skin& skin) {
  wrapped_text(skin.theme.text_dim, trf("mean entropy {:.2f} nats", spread.mean_entropy));
  help_tooltip(trf("Mean of −Σ w ln w over the queries. 0: all weight on one key; ln {} = {:.2f}: equal weight on all.",
                   keys, std::log(static_cast<double>(std::max(1, keys)))),
               skin);
  wrapped_text(skin.theme.text_dim, trf("softmax gradient {:.3f}", spread.mean_gradient));
  help_tooltip(tr("Mean over the queries of the largest |∂w/∂s| = w (1 − w), at most 1/4. Near 0 the softmax is "
                  "saturated and hardly any gradient passes through it (paper §3.2.1, footnote 4)."),
               skin);
}

void draw_side(const HeadCards& cards, const Side& side, ImVec2 size, TextureStore& textures, const Skin& skin) {
  ImGui::BeginGroup();
  const std::string title = side.scaled ? fmt::format("÷ √{:g}", cards.numbers.head().scale_width()) : tr("not scaled");
  bold_text(title, skin);
  if (side.of_model) {
    ImGui::SameLine(0, skin.px(6));
    dim_text(tr("model's own"), skin);
  }
  HeatmapOptions options;
  options.row_labels = cards.queries;
  options.col_labels = cards.keys;
  options.square = false;
  options.legend = false;
  draw_heatmap(side.scaled ? "scaled" : "plain", side.stages.weights, cards.numbers.version, size, options, textures,
               skin);
  draw_bars(cards.numbers, side.spread, {size.x, skin.px(54)}, skin);
  draw_measures(side.spread, cards.numbers.mask.cols, skin);
  ImGui::EndGroup();
}

}  // namespace

void draw_inside(const ShownMaps& maps, AttentionView& view, TextureStore& textures, const Skin& skin) {
  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (maps.lacks(view.part)) return draw_quiet_note(tr("decoding…"), room, skin);
  const Shown& shown = maps.of(view.part);
  clamp_to(view, *shown.snapshot);
  if (is_off(*shown.snapshot, view.place()))
    return draw_quiet_note(
        tr("This layer is switched off: it passes its input on unchanged, and none of its heads is used."), room, skin);
  if (!shown.snapshot->inside || shown.snapshot->inside->place != view.place())
    return draw_quiet_note(tr("computing…"), room, skin);
  refresh(view, shown.snapshot);
  const std::shared_ptr<const HeadNumbers> numbers = view.inside.numbers;
  const HeadCards cards{*numbers, texts_of(row_tokens(*shown.snapshot, view.part)),
                        texts_of(col_tokens(*shown.snapshot, view.part))};
  draw_controls(cards, view, skin);
  ImGui::BeginChild("stages", ImVec2(0, 0), false, view_flags());
  if (view.inside.compare) draw_scaling(cards, textures, skin);
  draw_cards(cards, view, textures, skin);
  ImGui::EndChild();
}

// ---- with and without division by √d_k

void draw_scaling(const HeadCards& cards, TextureStore& textures, const Skin& skin) {
  const HeadNumbers& numbers = cards.numbers;
  const float gap = skin.px(16);
  const ImVec2 room = ImGui::GetContentRegionAvail();
  const ImVec2 size{std::floor((room.x - gap) / 2), clamped(room.y * 0.3F, skin.px(150), skin.px(320))};
  const bool scaled = numbers.head().scaled;
  const Side own{scaled, true, numbers.stages, numbers.spread};
  const Side other{!scaled, false, numbers.rescaled, numbers.rescaled_spread};
  draw_side(cards, scaled ? own : other, size, textures, skin);
  ImGui::SameLine(0, gap);
  draw_side(cards, scaled ? other : own, size, textures, skin);
}

}  // namespace attnscope
