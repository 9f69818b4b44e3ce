#include "workspaces/attention/interventions.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/translation.h"
#include "common/clamped.h"
#include "messages/overrides.h"
#include "widgets/number_field.h"
#include "widgets/painter.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr const char* popup_id = "intervention";

template <typename T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

template <typename T>
void toggle(std::vector<T>& list, const T& item) {
  if (std::erase(list, item) == 0) list.push_back(item);
}

std::string layer_title(const LayerPlace& layer) {
  return trf("{}, layer {}", layer.decoder ? tr("Decoder") : tr("Encoder"), layer.layer + 1);
}

// The token at an index; the index itself if the sentence has become shorter.
std::string token(std::span<const Token> tokens, int index) {
  if (index < 0 || index >= static_cast<int>(tokens.size())) return trf("token {}", index + 1);
  return tokens[static_cast<std::size_t>(index)].text;
}

// Draws a button; if it is disabled, its tooltip gives the reason.
bool button(const std::string& label, const char* why_not, std::string_view help, const Skin& skin) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool clicked = text_button(label);
  ImGui::EndDisabled();
  help_tooltip(why_not != nullptr ? std::string_view(why_not) : help, skin);
  return clicked;
}

void token_combo(const char* id, std::span<const Token> tokens, int count, int& chosen, const Skin& skin) {
  chosen = clamped(chosen, 0, std::max(0, count - 1));
  const WithFont mono(skin.fonts.mono);
  ImGui::SetNextItemWidth(skin.px(130));
  if (!begin_combo(id, token(tokens, chosen))) return;
  for (int i = 0; i < count; ++i) {
    const std::string label = fmt::format("{:>2}  {}", i + 1, tokens[static_cast<std::size_t>(i)].text);
    if (selectable_text(label, i == chosen)) chosen = i;
    if (i == chosen) ImGui::SetItemDefaultFocus();
  }
  ImGui::EndCombo();
}

// The reason why heads, layers and weights cannot be changed; null: they can.
const char* why_only_tokens(const ModelConfig& model) {
  if (!model.is_recurrent()) return nullptr;
  return tr(
      "A recurrent model has no attention heads or layers to switch off, and its only attention is part of its state. "
      "You can only replace tokens.");
}

void draw_switches(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text(tr("Switch off"), skin);
  const char* why_not = why_only_tokens(snapshot.model);
  const bool head_off = contains(view.interventions.heads_off, view.place());
  const bool layer_off = contains(view.interventions.layers_off, layer_of(view.place()));
  if (button(
          head_off ? tr("This head is off") : tr("This head"), why_not,
          trf("{}: zeroes this head's contribution to W_O (zero ablation, paper §3.2.2). Click again to re-enable it.",
              title_of(view.place(), snapshot.model)),
          skin))
    toggle_head(view.interventions, view.place());
  ImGui::SameLine();
  if (button(layer_off ? tr("This layer is off") : tr("This layer"), why_not,
             trf("{}: makes this layer pass its input on unchanged (paper §3.1). Click again to re-enable it.",
                 layer_title(layer_of(view.place()))),
             skin))
    toggle_layer(view.interventions, layer_of(view.place()));
  ImGui::SameLine();
  bool& other_scale = view.interventions.other_scale;
  const bool divided = snapshot.model.scaled_attention != other_scale;
  if (button(divided ? tr("\u00F7 \u221Ad_k") : tr("\u00F7 \u221Ad_k is off"), why_not,
             tr("Removes the division of all heads' scores by \u221Ad_k, or adds it (paper \u00A73.2.1). Click again "
                "to undo."),
             skin))
    other_scale = !other_scale;
}

void draw_force(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text(tr("Force attention"), skin);
  const std::vector<Token>& queries = row_tokens(snapshot, view.part);
  const std::vector<Token>& keys = col_tokens(snapshot, view.part);
  const char* why_not = why_only_tokens(snapshot.model);
  if (!why_not && (queries.empty() || keys.empty())) why_not = tr("Nothing has been decoded yet: type a sentence.");
  ImGui::BeginDisabled(why_not != nullptr);
  token_combo("##query", queries, static_cast<int>(queries.size()), view.intervention.query, skin);
  help_tooltip(tr("The query: the token that attends."), skin);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("attends only to"));
  ImGui::SameLine();
  // Keys after the query are masked in the decoder.
  const int visible = view.part == AttentionPart::decoder ? view.intervention.query + 1 : static_cast<int>(keys.size());
  token_combo("##key", keys, std::min(visible, static_cast<int>(keys.size())), view.intervention.key, skin);
  help_tooltip(tr("The key: the token that receives all the weight."), skin);
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (button(tr_label("Force"), why_not,
             trf("Puts all of this query's weight on this key, only in {}.", title_of(view.place(), snapshot.model)),
             skin))
    force(view.interventions, {view.place(), view.intervention.query, view.intervention.key});
}

void draw_side(const Snapshot& snapshot, InterventionsView& intervention, const Skin& skin) {
  if (snapshot.model.is_language_model()) {
    intervention.target = true;
    return;
  }
  if (ImGui::RadioButton(tr_label("source"), !intervention.target)) intervention.target = false;
  help_tooltip(tr("A token of the sentence, before it is embedded."), skin);
  ImGui::SameLine();
  if (ImGui::RadioButton(tr_label("decoder input"), intervention.target)) intervention.target = true;
  help_tooltip(tr("A token that the decoder has generated, before it is embedded. The displayed output keeps the "
                  "original token."),
               skin);
}

void draw_replace(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text(tr("Replace a token"), skin);
  InterventionsView& intervention = view.intervention;
  draw_side(snapshot, intervention, skin);
  const std::vector<Token>& tokens = intervention.target ? snapshot.target_in : snapshot.source;
  token_combo("##piece", tokens, static_cast<int>(tokens.size()), intervention.position, skin);
  help_tooltip(tr("The token whose embedding is replaced."), skin);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("by"));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(skin.px(110));
  const bool entered =
      ImGui::InputTextWithHint("##text", tr("a word"), &intervention.text, ImGuiInputTextFlags_EnterReturnsTrue);
  help_tooltip(tr("The embedding of this word's first token is used instead; the sentence stays as typed."), skin);
  ImGui::SameLine();
  const bool blank = intervention.text.find_first_not_of(" \t") == std::string::npos;
  const char* why_not = tokens.empty() ? tr("Nothing has been decoded yet: type a sentence.")
                        : blank        ? tr("Type a word first.")
                                       : nullptr;
  const bool pressed =
      button(tr_label("Replace"), why_not, tr("Replaces the token that the model reads at this position."), skin);
  if (!why_not && (pressed || entered))
    replace(view.interventions, {intervention.target, intervention.position, -1, intervention.text});
}

// Why no direction can be added; null: one can.
const char* why_no_steering(const Snapshot& snapshot, const AttentionView& view) {
  if (const char* why = why_only_tokens(snapshot.model)) return why;
  const bool reads =
      (view.part == AttentionPart::decoder) == snapshot.model.is_language_model() && view.part != AttentionPart::cross;
  if (!reads) return tr("Directions are added where the model reads the sentence: select a head of the encoder.");
  return view.intervention.plus.find_first_not_of(" \t") == std::string::npos ? tr("Type a word first.") : nullptr;
}

void draw_steering(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text(tr("Steer"), skin);
  InterventionsView& intervention = view.intervention;
  ImGui::SameLine();
  dim_text(trf("after {}", layer_title(layer_of(view.place()))), skin);
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(tr("factor"));
  ImGui::SameLine();
  ImGui::SetNextItemWidth(skin.px(60));
  real_input("##factor", intervention.factor, -largest_steering, largest_steering, skin);
  for (const auto& [id, hint, text] : {std::tuple("##plus", tr("toward"), &intervention.plus),
                                       std::tuple("##minus", tr("away from"), &intervention.minus)}) {
    ImGui::SameLine();
    ImGui::SetNextItemWidth(skin.px(130));
    ImGui::InputTextWithHint(id, hint, text);
  }
  ImGui::SameLine();
  if (button(tr_label("Add"), why_no_steering(snapshot, view),
             trf("{}: adds a multiple of a direction to every token's vector after this layer: the state of the first "
                 "text there minus that of the second, which may be empty (2308.10248).",
                 layer_title(layer_of(view.place()))),
             skin) &&
      std::isfinite(intervention.factor))
    view.interventions.steered.push_back(
        {layer_of(view.place()), intervention.plus, intervention.minus, intervention.factor, {}});
}

// Initializes the popup from the selection.
void begin_intervention(const Snapshot& snapshot, AttentionView& view) {
  view.intervention.query = view.pinned_row.value_or(std::max(0, first_row(snapshot, view.part)));
  view.intervention.key = view.pinned_col.value_or(0);
  view.intervention.target = snapshot.model.is_language_model() || view.part != AttentionPart::encoder;
  view.intervention.position = view.intervention.query;
}

void draw_popup(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  if (!ImGui::BeginPopup(popup_id)) return;
  dim_text(tr("Weights and training are not affected. Active interventions are listed above until you remove them."),
           skin);
  draw_switches(snapshot, view, skin);
  ImGui::Spacing();
  draw_force(snapshot, view, skin);
  ImGui::Spacing();
  draw_replace(snapshot, view, skin);
  ImGui::Spacing();
  draw_steering(snapshot, view, skin);
  ImGui::EndPopup();
}

// ---- the effect

constexpr std::size_t words_before = 2;  // unchanged words shown before the first difference

std::string joined(std::span<const ComparedWord> words) {
  std::string text;
  for (const ComparedWord& word : words) text += (text.empty() ? "" : " ") + word.word;
  return text.empty() ? tr("(nothing)") : text;
}

// The first word to show so that a line contains the difference even if it does not fit.
std::size_t first_shown(std::span<const ComparedWord> words, float room) {
  if (ImGui::CalcTextSize(joined(words).c_str()).x <= room) return 0;
  const auto differs = std::ranges::find(words, true, &ComparedWord::differs);
  const auto index = static_cast<std::size_t>(differs - words.begin());
  return differs == words.end() || index < words_before ? 0 : index - words_before;
}

// Draws one line: the output with the differences in `color`, clipped at the right, with the full text in the tooltip.
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
  if (words.empty()) put(tr("(nothing)"), skin.theme.text_dim);
  for (const ComparedWord& word : words.subspan(first)) put(word.word, word.differs ? color : skin.theme.text);
  paint.pop_clip();
}

float width_of(const Token& token, const Skin& skin) {
  return std::max(text_size(skin.fonts.mono_small, token.text).x, skin.px(14));
}

// The first token to show, so that the one whose probability changed most has room.
std::size_t first_shown(const std::vector<float>& before, const std::vector<GoldStep>& after, float room,
                        const Skin& skin) {
  const auto change = [&](std::size_t i) { return std::abs(after[i].probability - before[i]); };
  std::size_t most = 0;
  for (std::size_t i = 1; i < after.size(); ++i)
    if (change(i) > change(most)) most = i;
  std::size_t first = most;
  for (float used = 0; first > 0; --first) {
    used += width_of(after[first].token, skin) + skin.px(4);
    if (used + width_of(after[first - 1].token, skin) > room - skin.px(16)) break;  // leaves room for "…"
  }
  return first;
}

// Draws a token of the reference over two bars: its probability without and with the interventions.
float draw_reference_token(Painter& paint, float before, const GoldStep& after, ImVec2 at, const Skin& skin) {
  const float width = width_of(after.token, skin);
  const float line = font_size(skin.fonts.mono_small);
  const bool fell = after.probability < before / 2;
  paint.text(skin.fonts.mono_small, at, fell ? skin.theme.warning : skin.theme.text, after.token.text);
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
  mono_text(after.token.text, skin);
  ImGui::Text(tr("p = %.4g before, %.4g after"), static_cast<double>(before), static_cast<double>(after.probability));
  if (after.rank > 1) plain_text(trf("now rank {}; the model would generate {}", after.rank, after.best.text));
  ImGui::EndTooltip();
}

void draw_gold(const Snapshot& snapshot, const SnapshotDifference& difference, const Skin& skin) {
  const std::vector<GoldStep>& after = snapshot.gold;
  if (after.empty()) return;
  const std::string sum =
      trf("log-probability of the {} {:.2f} → {:.2f}", difference.reference ? tr("reference") : tr("original output"),
          difference.log_prob_before, difference.log_prob_after);
  ImGui::TextUnformatted(sum.c_str());
  help_tooltip(tr("The probability of each token given the tokens before it, without and with the interventions (bars: "
                  "gray before, colored after)."),
               skin);
  ImGui::SameLine(0, skin.px(12));
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float right = origin.x + ImGui::GetContentRegionAvail().x;
  const float height = font_size(skin.fonts.mono_small) + skin.px(9);
  Painter paint(skin);
  float x = origin.x;
  const std::size_t first = first_shown(difference.gold_before, after, right - origin.x, skin);
  if (first > 0) {
    paint.text(skin.fonts.mono_small, {x, origin.y}, skin.theme.text_dim, "…");
    x += skin.px(14);
  }
  for (std::size_t i = first; i < after.size() && x + width_of(after[i].token, skin) <= right; ++i) {
    const float width = draw_reference_token(paint, difference.gold_before[i], after[i], {x, origin.y}, skin);
    if (ImGui::IsMouseHoveringRect({x, origin.y}, {x + width, origin.y + height}) && ImGui::IsWindowHovered())
      gold_tooltip(difference.gold_before[i], after[i], skin);
    x += width + skin.px(4);
  }
  ImGui::Dummy({std::max(1.0F, right - origin.x), height});
}

void draw_largest(const Snapshot& snapshot, const WeightChange& largest, AttentionView& view, const Skin& skin) {
  const auto name = [](const std::vector<Token>& tokens, int index) {
    return tokens[static_cast<std::size_t>(index)].text;
  };
  const std::string text =
      trf("{}, {} → {}: weight {:.2f} → {:.2f}", title_of(largest.place, snapshot.model),
          name(row_tokens(snapshot, largest.place.part), largest.query),
          name(col_tokens(snapshot, largest.place.part), largest.key), largest.before, largest.after);
  ImGui::AlignTextToFramePadding();
  dim_text(tr("largest change"), skin);
  ImGui::SameLine(0, skin.px(8));
  if (small_text_button(text)) {
    select(view, largest.place);
    view.pinned_row = largest.query;
    view.pinned_col = largest.key;
  }
  help_tooltip(tr("The attention weight that changed most, not counting weights you forced. Only queries that saw the "
                  "same tokens in both are compared. Click to go there."),
               skin);
}

void refresh(InterventionsView& intervention, const std::shared_ptr<const Snapshot>& snapshot) {
  if (intervention.compared == snapshot) return;
  intervention.difference = std::make_shared<const SnapshotDifference>(snapshot_difference(*snapshot));
  intervention.compared = snapshot;
}

}  // namespace

void toggle_head(Interventions& interventions, const HeadPlace& place) {
  toggle(interventions.heads_off, place);
}

void toggle_layer(Interventions& interventions, const LayerPlace& place) {
  toggle(interventions.layers_off, place);
}

void force(Interventions& interventions, const ForcedAttention& forced) {
  std::erase_if(interventions.forced,
                [&](const ForcedAttention& it) { return it.place == forced.place && it.query == forced.query; });
  interventions.forced.push_back(forced);
}

void replace(Interventions& interventions, ReplacedToken replaced) {
  std::erase_if(interventions.replaced, [&](const ReplacedToken& it) {
    return it.target == replaced.target && it.position == replaced.position;
  });
  interventions.replaced.push_back(std::move(replaced));
}

void draw_interventions(const ShownMaps& maps, AttentionView& view, const Skin& skin) {
  // While an output is pending, the last one is shown, as everywhere.
  const Snapshot& snapshot = maps.complete.snapshot ? *maps.complete.snapshot : *maps.newest.snapshot;
  if (!maps.lacks(view.part)) clamp_to(view, *maps.of(view.part).snapshot);
  ImGui::PushID("interventions");
  if (row_button(tr_label("Intervene…"))) {
    begin_intervention(snapshot, view);
    ImGui::OpenPopup(popup_id);
  }
  help_tooltip(tr("Changes this forward pass and shows the effect: switch off a head or a layer, force a query to "
                  "attend to one key, or replace a token."),
               skin);
  draw_popup(snapshot, view, skin);
  ImGui::PopID();
}

// ---- the effect

void draw_effect(const ShownMaps& maps, AttentionView& view, const Skin& skin) {
  const std::shared_ptr<const Snapshot>& snapshot = maps.complete.snapshot;
  if (snapshot && is_recorded(*snapshot)) return dim_text(recorded_note(maps.complete), skin);
  if (!snapshot || !snapshot->untouched) return dim_text(tr("computing…"), skin);
  refresh(view.intervention, snapshot);
  const SnapshotDifference& difference = *view.intervention.difference;
  draw_output(tr("before"), difference.before, skin.theme.success, skin);
  draw_output(tr("after"), difference.after, skin.theme.warning, skin);
  draw_gold(*snapshot, difference, skin);
  if (difference.largest) draw_largest(*snapshot, *difference.largest, view, skin);
}

}  // namespace attnscope
