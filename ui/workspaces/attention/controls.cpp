#include "workspaces/attention/controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/translation.h"
#include "messages/snapshot.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr std::array pictures = {
    ChoiceText{HeadPicture::matrix, mark("Matrix"),
               mark("One row per query, one column per key; each cell is a weight. Scroll to zoom at the cursor, drag "
                    "to pan, double-click to show everything again.")},
    ChoiceText{HeadPicture::lines, mark("Lines"),
               mark("Queries on the left, keys on the right. Each line is a weight: the larger it is, the thicker and "
                    "more opaque the line. Point at a token to show only its lines; click to pin them.")},
    ChoiceText{HeadPicture::both, mark("Both"),
               mark("Matrix and lines. Shows only the matrix where there is no room for both.")},
};

struct MixText {
  HeadMix mix;
  const char* word;  // used in file names
  const char* title;
  const char* help;
};

constexpr std::array mixes = {
    MixText{HeadMix::one, "", mark("this head"), mark("The weights of the selected head (paper §3.2.1).")},
    MixText{HeadMix::together_mean, mark("together"), mark("mean of the selected heads"),
            mark("The mean of the heads selected with Shift + click, cell by cell.")},
    MixText{HeadMix::layer_mean, mark("layer mean"), mark("mean over the layer's heads"),
            mark("The mean of all heads of this layer, cell by cell (multi-head attention, paper §3.2.2).")},
    MixText{HeadMix::layer_max, mark("layer max"), mark("max over the layer's heads"),
            mark("The largest weight of any head of this layer in each cell. Rows need not sum to 1.")},
    MixText{HeadMix::part_mean, mark("mean"), mark("mean over all layers"),
            mark("The mean of all heads of all layers of this attention type, cell by cell.")},
    MixText{HeadMix::part_max, mark("max"), mark("max over all layers"),
            mark("The largest weight of any head of any layer of this attention type in each cell. Rows need not sum "
                 "to 1.")},
    MixText{HeadMix::rollout, mark("rollout"), mark("attention rollout"),
            mark("Attention rollout: how much of each input reaches each position through the layers up to this one, "
                 "residual connections included. It is the product of ½ W + ½ I over the layers; W is the mean of a "
                 "layer's heads (Abnar & Zuidema 2020, arXiv 2005.00928 §3).")},
    MixText{HeadMix::difference, mark("difference"), mark("with interventions − original"),
            mark("How your interventions change this head: its weights with them minus its weights without them.")},
};

const MixText& text_of(HeadMix mix) {
  return *std::ranges::find(mixes, mix, &MixText::mix);
}

void draw_checkbox(const char* label, bool& value, const char* help, const Skin& skin) {
  next_in_row(checkbox_width(label), skin.px(12));
  ImGui::Checkbox(label, &value);
  help_tooltip(help, skin);
}

void draw_pictures(AttentionView& view, const ModelConfig& model, const Skin& skin) {
  ImGui::AlignTextToFramePadding();
  for (const ChoiceText<HeadPicture>& text : pictures)
    if (draw_choice(tr_label(text.title), view.picture == text.value, tr(in_values(text.help, model)), skin))
      view.picture = text.value;
}

constexpr std::array pair_filters = {
    ChoiceText{PairFilter::all, mark("A+B"), mark("All queries and keys of both sentences.")},
    ChoiceText{PairFilter::a_to_a, mark("A→A"), mark("Only the attention of sentence A to itself.")},
    ChoiceText{PairFilter::a_to_b, mark("A→B"), mark("Only the attention of sentence A to sentence B.")},
    ChoiceText{PairFilter::b_to_a, mark("B→A"), mark("Only the attention of sentence B to sentence A.")},
    ChoiceText{PairFilter::b_to_b, mark("B→B"), mark("Only the attention of sentence B to itself.")},
};

void draw_pair_filter(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  if (second_sentence(snapshot) < 0 || view.part != AttentionPart::encoder) {
    view.pair = PairFilter::all;
    return;
  }
  float width = 0;
  for (const auto& text : pair_filters) width += button_width(tr(text.title)) + skin.px(4);
  next_in_row(width, skin.px(12));
  for (const auto& text : pair_filters)
    if (draw_choice(tr_label(text.title), view.pair == text.value, tr(text.help), skin)) view.pair = text.value;
  end_choices();
}

void draw_mix(const MixText& text, const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  const char* why_not = refusal(text.mix, view.choice(), snapshot);
  ImGui::BeginDisabled(why_not != nullptr);
  if (ImGui::Selectable(tr_label(text.title), view.map.choice.mix == text.mix)) view.mix = text.mix;
  ImGui::EndDisabled();
  help_tooltip(why_not ? why_not : tr(in_values(text.help, snapshot.model)), skin);
}

void draw_mixes(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  const float label = ImGui::CalcTextSize(tr("Show")).x + skin.px(6);
  const float width = skin.px(190);
  next_in_row(label + width, skin.px(12));
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("Show"));
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(std::min(width, ImGui::GetContentRegionAvail().x));
  const MixText& shown = text_of(view.map.choice.mix);
  const bool open = begin_combo("##show", tr(shown.title));
  if (!open)
    return help_tooltip(
        trf("Which maps the pictures show. Current choice: {}", tr(in_values(shown.help, snapshot.model))), skin);
  for (const MixText& text : mixes) draw_mix(text, snapshot, view, skin);
  ImGui::EndCombo();
}

std::string entropy_help(const Shown& shown, const AttentionView& view) {
  const MapMeasures* measures = measures_at(view.measures, view.place());
  std::string help = tr(attnscope::text_of(view.part, shown.snapshot->model).help);
  if (measures && shown.snapshot->model.has_weights()) {
    help +=
        trf("\nentropy {:.2f} nats: the mean of −Σ w ln w over the rows. 0: every row attends to a single key; {:.2f}: "
            "evenly to all the keys it sees.",
            measures->entropy, measures->most_entropy);
    if (near_uniform(*measures)) help += tr(" Near-uniform: untrained or idle.");
  }
  return help + trf(" Step {}.", shown.snapshot->step);
}

// Draws the heads shown together, each in its color; a click removes one.
void draw_together(AttentionView& view, const Skin& skin) {
  const std::vector<HeadPlace> heads = view.choice().heads;
  for (const HeadPlace& place : heads) {
    const std::string name = layer_and_head(place.layer, place.head);
    const ImVec2 extent = text_size(skin.fonts.small, name);
    next_in_row(extent.x + skin.px(22), skin.px(8));
    Painter paint(skin);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    paint.filled_rect({at.x, at.y + extent.y * 0.2F}, {at.x + extent.y * 0.7F, at.y + extent.y * 0.9F},
                      color_of(view, place, skin.theme), skin.px(2));
    paint.text(skin.fonts.small, {at.x + extent.y, at.y}, skin.theme.text, name);
    ImGui::PushID(name.c_str());
    if (ImGui::InvisibleButton("together", {extent.x + extent.y, extent.y})) toggle_together(view, place);
    ImGui::PopID();
    help_tooltip(tr("This head is shown together with the others, in this color. Click to remove it; Shift + click a "
                    "thumbnail to add another one."),
                 skin);
  }
}

const char* reading_of(const Shown& shown, const AttentionView& view) {
  const ModelConfig& model = shown.snapshot->model;
  if (view.map.choice.mix != HeadMix::one) return tr(in_values(text_of(view.map.choice.mix).help, model));
  return tr(attnscope::text_of(view.part, shown.snapshot->model).reads);
}

// ---- sorted heads

constexpr std::array orders = {
    ChoiceText{HeadOrder::place, mark("by layer"), mark("Layers from top to bottom, heads from left to right.")},
    ChoiceText{HeadOrder::entropy, mark("by entropy"),
               mark("How spread out a head's attention is: the mean over its queries of −Σ w ln w, sharpest first. "
                    "Click again to reverse the order.")},
    ChoiceText{HeadOrder::distance, mark("by distance"),
               mark("How far away a head attends: the mean over its queries of Σ w |query − key|, in tokens, nearest "
                    "first. Click again to reverse the order.")},
    ChoiceText{HeadOrder::attention, mark("by attention to"),
               mark("How much attention a head gives to the selected token: the mean over the queries that see it or, "
                    "if a query is selected too, its weight on that key. Select tokens at the level “Head”. Click "
                    "again to reverse the order.")},
};

bool keys_are_of(AttentionPart part, const SelectedToken& token) {
  return (part == AttentionPart::decoder) == token.target;
}

std::optional<float> attention_to(const SelectedToken& token, const HeadPlace& place, const Matrix& map,
                                  const AttentionView& view, const ModelConfig& model) {
  if (!keys_are_of(place.part, token) || token.index >= map.cols) return std::nullopt;
  const bool cell = place.part == view.part && view.pinned_row && view.pinned_col && *view.pinned_row < map.rows;
  if (cell) return map.at(*view.pinned_row, token.index);
  return received_by(map, token.index, is_causal(model, place.part));
}

std::optional<float> value_of(const HeadPlace& place, const Matrix& map, const AttentionView& view,
                              const std::optional<SelectedToken>& token, const ModelConfig& model) {
  if (view.order == HeadOrder::attention) return token ? attention_to(*token, place, map, view, model) : std::nullopt;
  const MapMeasures* measures = measures_at(view.measures, place);
  if (!measures) return std::nullopt;
  return view.order == HeadOrder::entropy ? measures->entropy : measures->distance;
}

bool falls(const AttentionView& view) {
  return (view.order == HeadOrder::attention) != view.reversed;
}

void sort_heads(std::vector<RankedHead>& heads, const AttentionView& view) {
  const bool falling = falls(view);
  std::ranges::stable_sort(heads, [&](const RankedHead& a, const RankedHead& b) {
    if (!a.value || !b.value) return a.value.has_value() && !b.value;
    return falling ? *a.value > *b.value : *a.value < *b.value;
  });
}

std::vector<RankedHead> valued_heads(const AttentionView& view, const ShownMaps& maps) {
  const std::optional<SelectedToken> token = selected_token(view, maps);
  std::vector<RankedHead> heads;
  for (const AttentionPart part : attention_parts) {
    if (maps.lacks(part)) continue;
    const AttentionMaps& layers = maps_of(*maps.of(part).snapshot, part);
    for (int layer = 0; layer < static_cast<int>(layers.size()); ++layer) {
      const std::vector<Matrix>& row = layers[static_cast<std::size_t>(layer)];
      for (int head = 0; head < static_cast<int>(row.size()); ++head) {
        const HeadPlace place{part, layer, head};
        heads.push_back(
            {place, value_of(place, row[static_cast<std::size_t>(head)], view, token, maps.newest.snapshot->model)});
      }
    }
  }
  return heads;
}

std::string title_of_order(const ChoiceText<HeadOrder>& text, const std::optional<SelectedToken>& token) {
  if (text.value != HeadOrder::attention) return tr(text.title);
  if (!token) return trf("{} a token", tr(text.title));
  return fmt::format("{} {}", tr(text.title), without_mark(token->token));
}

}  // namespace

bool is_switched_off(const Snapshot& snapshot, const HeadPlace& place) {
  const std::vector<HeadPlace>& off = snapshot.interventions.heads_off;
  return std::ranges::find(off, place) != off.end();
}

void draw_head_caption(const Shown& shown, AttentionView& view, const Skin& skin) {
  draw_label(skin.fonts.bold, skin.theme.text, title_of(view.place(), shown.snapshot->model), skin);
  const std::string help = entropy_help(shown, view);
  help_tooltip(help, skin);
  if (is_switched_off(*shown.snapshot, view.place())) {
    next_in_row(text_size(skin.fonts.ui, tr("switched off")).x, skin.px(12));
    draw_label(skin.fonts.ui, skin.theme.warning, tr("switched off"), skin);
    help_tooltip(
        tr("The head is ablated: its attention weights are still computed, but zeros replace its contribution to W_O."),
        skin);
  }
  const MapMeasures* measures = measures_at(view.measures, view.place());
  if (measures && shown.snapshot->model.has_weights()) {
    const std::string entropy = trf("{}entropy {:.2f} nats", near_uniform(*measures) ? "≈ " : "", measures->entropy);
    next_in_row(text_size(skin.fonts.ui, entropy).x, skin.px(12));
    draw_label(skin.fonts.ui, near_uniform(*measures) ? skin.theme.warning : skin.theme.text_dim, entropy, skin);
    help_tooltip(help, skin);
  }
  if (!view.together.empty()) draw_together(view, skin);
  if (view.picture != HeadPicture::lines)
    draw_wrapped_label(skin.fonts.ui, skin.theme.text_dim, reading_of(shown, view), skin);
}

void draw_head_controls(const Shown& shown, AttentionView& view, const Skin& skin) {
  const ModelConfig& model = shown.snapshot->model;
  draw_pictures(view, model, skin);
  draw_checkbox(
      tr_label("Words"), view.words,
      tr(in_values(
          mark("Merges the tokens of a word: weights are summed over the tokens of the attended word and averaged "
               "over those of the attending word. Rows still sum to 1 (Clark et al. 2019, arXiv 1906.04341 §4.1)."),
          model)),
      skin);
  if (model.has_weights())
    draw_checkbox(
        tr_label("Margins"), view.margins,
        tr("Shows along the lower edge the attention that each key receives, averaged over the queries that see it. "
           "Along the right edge: each query's entropy, −Σ w ln w; short bars mean one key, long bars all keys."),
        skin);
  draw_mixes(*shown.snapshot, view, skin);
  draw_pair_filter(*shown.snapshot, view, skin);
}

std::string map_name(const HeadMap& map, const ModelConfig& model) {
  std::string name = head_name(map.choice.heads.front(), model);
  if (map.choice.mix != HeadMix::one) name += fmt::format(" {}", text_of(map.choice.mix).word);
  return map.choice.words ? name + " words" : name;
}

// ---- sorted heads

std::optional<SelectedToken> selected_token(const AttentionView& view, const ShownMaps& maps) {
  if (maps.lacks(view.part)) return std::nullopt;
  // The rows of cross-attention are words being generated; no query attends to them yet.
  const bool row = !view.pinned_col && view.pinned_row && view.part != AttentionPart::cross;
  const std::optional<int> chosen = row ? view.pinned_row : view.pinned_col;
  const std::vector<Token>& keys = col_tokens(*maps.of(view.part).snapshot, view.part);
  if (!chosen || *chosen >= static_cast<int>(keys.size())) return std::nullopt;
  return SelectedToken{view.part == AttentionPart::decoder, *chosen, keys[static_cast<std::size_t>(*chosen)].text};
}

void rank_heads(AttentionView& view, const ShownMaps& maps) {
  HeadRanking& ranking = view.ranking;
  if (!maps.newest.snapshot->model.has_weights()) view.order = HeadOrder::place;
  if (view.order == HeadOrder::place) return ranking.heads.clear();
  const HeadRanking::Key key{maps.newest.version, maps.complete.version, view.measures.changes,
                             view.order,          view.reversed,         view.part,
                             view.pinned_row,     view.pinned_col};
  if (ranking.key == key && !ranking.heads.empty()) return;
  ranking.key = key;
  ranking.heads = valued_heads(view, maps);
  sort_heads(ranking.heads, view);
}

void draw_order_choice(AttentionView& view, const ShownMaps& maps, const Skin& skin) {
  const std::optional<SelectedToken> token = selected_token(view, maps);
  for (const ChoiceText<HeadOrder>& text : orders) {
    // The others measure distributions.
    if (text.value != HeadOrder::place && !maps.newest.snapshot->model.has_weights()) continue;
    const bool chosen = view.order == text.value;
    const std::string arrow = chosen && view.order != HeadOrder::place ? (falls(view) ? " ↓" : " ↑") : "";
    const std::string title =
        fmt::format("{}{}###order{}", title_of_order(text, token), arrow, static_cast<int>(text.value));
    if (!draw_choice(title.c_str(), chosen, tr(text.help), skin)) continue;
    view.reversed = chosen && !view.reversed;
    view.order = text.value;
  }
}

}  // namespace attnscope
