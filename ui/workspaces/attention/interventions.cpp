#include "workspaces/attention/interventions.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "widgets/choice_row.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
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

LayerPlace layer_of(const AttentionView& view) {
  return {view.part != AttentionPart::encoder, view.layer};
}

std::string layer_title(const LayerPlace& layer) {
  return fmt::format("{}, layer {}", layer.decoder ? "Decoder" : "Encoder", layer.layer + 1);
}

// A piece by its place; of a sentence that has become shorter, its number.
std::string piece(std::span<const Token> tokens, int index) {
  if (index < 0 || index >= static_cast<int>(tokens.size())) return fmt::format("piece {}", index + 1);
  return tokens[static_cast<std::size_t>(index)].piece;
}

// A button that is there to say why it cannot be used, where it cannot.
bool button(const std::string& label, const char* why_not, std::string_view help, const Skin& skin) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool clicked = ImGui::Button(label.c_str());
  ImGui::EndDisabled();
  help_tooltip(why_not != nullptr ? std::string_view(why_not) : help, skin);
  return clicked;
}

void piece_combo(const char* id, std::span<const Token> tokens, int count, int& chosen, const Skin& skin) {
  chosen = std::clamp(chosen, 0, std::max(0, count - 1));
  const WithFont mono(skin.fonts.mono);
  ImGui::SetNextItemWidth(skin.px(130));
  if (!ImGui::BeginCombo(id, piece(tokens, chosen).c_str())) return;
  for (int i = 0; i < count; ++i) {
    const std::string label = fmt::format("{:>2}  {}##{}", i + 1, tokens[static_cast<std::size_t>(i)].piece, i);
    if (ImGui::Selectable(label.c_str(), i == chosen)) chosen = i;
    if (i == chosen) ImGui::SetItemDefaultFocus();
  }
  ImGui::EndCombo();
}

// Why heads, layers and weights cannot be changed; null: they can.
const char* why_only_tokens(const ModelConfig& model) {
  if (!model.is_recurrent()) return nullptr;
  return "A recurrent model has no heads and layers of attention to be switched off, and its one attention is part of "
         "its state: only tokens can be replaced.";
}

void draw_switches(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text("Switch off", skin);
  const char* why_not = why_only_tokens(snapshot.model);
  const bool head_off = contains(view.interventions.heads_off, view.place());
  const bool layer_off = contains(view.interventions.layers_off, layer_of(view));
  if (button((head_off ? "This head is off" : "This head") + std::string("##head"), why_not,
             fmt::format("{}: its part of what goes into W_O becomes zero (paper §3.2.2). Again: on.",
                         title_of(view.place(), snapshot.model)),
             skin))
    toggle_head(view.interventions, view.place());
  ImGui::SameLine();
  if (button((layer_off ? "This layer is off" : "This layer") + std::string("##layer"), why_not,
             fmt::format("{}: it passes its input on unchanged (paper §3.1). Again: on.", layer_title(layer_of(view))),
             skin))
    toggle_layer(view.interventions, layer_of(view));
}

void draw_force(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text("Force attention", skin);
  const std::vector<Token>& queries = row_tokens(snapshot, view.part);
  const std::vector<Token>& keys = col_tokens(snapshot, view.part);
  const char* why_not = why_only_tokens(snapshot.model);
  if (!why_not && (queries.empty() || keys.empty())) why_not = "Nothing has been decoded yet.";
  ImGui::BeginDisabled(why_not != nullptr);
  piece_combo("##query", queries, static_cast<int>(queries.size()), view.intervention.query, skin);
  help_tooltip("The query: the piece that looks.", skin);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("looks only at");
  ImGui::SameLine();
  // Keys after the query are masked in the decoder.
  const int visible = view.part == AttentionPart::decoder ? view.intervention.query + 1 : static_cast<int>(keys.size());
  piece_combo("##key", keys, std::min(visible, static_cast<int>(keys.size())), view.intervention.key, skin);
  help_tooltip("The key: the piece that gets all the weight.", skin);
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (button("Force", why_not,
             fmt::format("All of this query's weight goes to this key, in {} alone.",
                         title_of(view.place(), snapshot.model)),
             skin))
    force(view.interventions, {view.place(), view.intervention.query, view.intervention.key});
}

void draw_side(const Snapshot& snapshot, InterventionsView& intervention, const Skin& skin) {
  if (snapshot.model.is_language_model()) {
    intervention.target = true;
    return;
  }
  if (ImGui::RadioButton("source", !intervention.target)) intervention.target = false;
  help_tooltip("A piece of the sentence, before the encoder embeds it.", skin);
  ImGui::SameLine();
  if (ImGui::RadioButton("decoder input", intervention.target)) intervention.target = true;
  help_tooltip("A piece of what the decoder has written, before it embeds it; what is shown stays as written.", skin);
}

void draw_replace(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  bold_text("Replace a token", skin);
  InterventionsView& intervention = view.intervention;
  draw_side(snapshot, intervention, skin);
  const std::vector<Token>& tokens = intervention.target ? snapshot.target_in : snapshot.source;
  piece_combo("##piece", tokens, static_cast<int>(tokens.size()), intervention.position, skin);
  help_tooltip("The piece whose embedding is replaced.", skin);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("by");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(skin.px(110));
  const bool entered =
      ImGui::InputTextWithHint("##text", "a word", &intervention.text, ImGuiInputTextFlags_EnterReturnsTrue);
  help_tooltip("Its first piece of the vocabulary is embedded instead; the sentence stays as typed.", skin);
  ImGui::SameLine();
  const bool blank = intervention.text.find_first_not_of(" \t") == std::string::npos;
  const char* why_not = tokens.empty() ? "Nothing has been decoded yet." : blank ? "Type a word first." : nullptr;
  const bool pressed = button("Replace", why_not, "The model reads the other piece at this place.", skin);
  if (!why_not && (pressed || entered))
    replace(view.interventions, {intervention.target, intervention.position, -1, intervention.text});
}

// What was chosen elsewhere is what is meant here at first.
void begin_intervention(const Snapshot& snapshot, AttentionView& view) {
  view.intervention.query = view.pinned_row.value_or(std::max(0, first_row(snapshot, view.part)));
  view.intervention.key = view.pinned_col.value_or(0);
  view.intervention.target = snapshot.model.is_language_model() || view.part != AttentionPart::encoder;
  view.intervention.position = view.intervention.query;
}

void draw_popup(const Snapshot& snapshot, AttentionView& view, const Skin& skin) {
  if (!ImGui::BeginPopup(popup_id)) return;
  dim_text("Weights and training stay as they are; what is changed is listed above until it is taken back.", skin);
  draw_switches(snapshot, view, skin);
  ImGui::Spacing();
  draw_force(snapshot, view, skin);
  ImGui::Spacing();
  draw_replace(snapshot, view, skin);
  ImGui::EndPopup();
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
  // While an output is on its way the last one is shown, as everywhere.
  const Snapshot& snapshot = maps.complete.snapshot ? *maps.complete.snapshot : *maps.newest.snapshot;
  if (!maps.lacks(view.part)) clamp_to(view, *maps.of(view.part).snapshot);
  ImGui::PushID("interventions");
  break_choices("Intervene…");
  if (ImGui::SmallButton("Intervene…")) {
    begin_intervention(snapshot, view);
    ImGui::OpenPopup(popup_id);
  }
  help_tooltip(
      "Intervenes in the model for this look: switches off a head or a layer, forces a query to look at one key, or "
      "replaces a token, and shows what comes of it.",
      skin);
  draw_popup(snapshot, view, skin);
  ImGui::PopID();
}

}  // namespace attnscope
