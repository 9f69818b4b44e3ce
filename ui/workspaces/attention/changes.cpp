#include "workspaces/attention/changes.h"

#include <fmt/format.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "widgets/choice_row.h"
#include "widgets/token_strip.h"
#include "widgets/tooltip.h"
#include "widgets/wrapped_row.h"
#include "workspaces/attention/changes_effect.h"
#include "workspaces/attention/text.h"

namespace attnscope {
namespace {

constexpr const char* popup_id = "change";

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

std::string short_title(const HeadPlace& place) {
  constexpr const char* parts[] = {"Encoder", "Decoder", "Cross"};
  return fmt::format("{} L{} H{}", parts[static_cast<int>(place.part)], place.layer + 1, place.head + 1);
}

// A piece by its place; of a sentence that has become shorter, its number.
std::string piece(std::span<const Token> tokens, int index) {
  if (index < 0 || index >= static_cast<int>(tokens.size())) return fmt::format("piece {}", index + 1);
  return tokens[static_cast<std::size_t>(index)].piece;
}

// A button that is there to say why it cannot be used, where it cannot.
bool button(const std::string& label, const char* why_not, std::string_view help, const Look& look) {
  ImGui::BeginDisabled(why_not != nullptr);
  const bool clicked = ImGui::Button(label.c_str());
  ImGui::EndDisabled();
  help_tooltip(why_not != nullptr ? std::string_view(why_not) : help, look);
  return clicked;
}

void heading(const char* text, const Look& look) {
  const WithFont bold(look.fonts.bold);
  ImGui::TextUnformatted(text);
}

void piece_combo(const char* id, std::span<const Token> tokens, int count, int& chosen, const Look& look) {
  chosen = std::clamp(chosen, 0, std::max(0, count - 1));
  const WithFont mono(look.fonts.mono);
  ImGui::SetNextItemWidth(look.px(130));
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

void draw_switches(const Snapshot& snapshot, AttentionView& view, const Look& look) {
  heading("Switch off", look);
  const char* why_not = why_only_tokens(snapshot.model);
  const bool head_off = contains(view.changes.heads_off, view.place());
  const bool layer_off = contains(view.changes.layers_off, layer_of(view));
  if (button((head_off ? "This head is off" : "This head") + std::string("##head"), why_not,
             fmt::format("{}: its part of what goes into W_O becomes zero (paper §3.2.2). Again: on.",
                         title_of(view.place(), snapshot.model)),
             look))
    toggle_head(view.changes, view.place());
  ImGui::SameLine();
  if (button((layer_off ? "This layer is off" : "This layer") + std::string("##layer"), why_not,
             fmt::format("{}: it passes its input on unchanged (paper §3.1). Again: on.", layer_title(layer_of(view))),
             look))
    toggle_layer(view.changes, layer_of(view));
}

void draw_force(const Snapshot& snapshot, AttentionView& view, const Look& look) {
  heading("Force attention", look);
  const std::vector<Token>& queries = row_tokens(snapshot, view.part);
  const std::vector<Token>& keys = col_tokens(snapshot, view.part);
  const char* why_not = why_only_tokens(snapshot.model);
  if (!why_not && (queries.empty() || keys.empty())) why_not = "Nothing has been decoded yet.";
  ImGui::BeginDisabled(why_not != nullptr);
  piece_combo("##query", queries, static_cast<int>(queries.size()), view.change.query, look);
  help_tooltip("The query: the piece that looks.", look);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("looks only at");
  ImGui::SameLine();
  // Keys after the query are masked in the decoder.
  const int visible = view.part == AttentionPart::decoder ? view.change.query + 1 : static_cast<int>(keys.size());
  piece_combo("##key", keys, std::min(visible, static_cast<int>(keys.size())), view.change.key, look);
  help_tooltip("The key: the piece that gets all the weight.", look);
  ImGui::EndDisabled();
  ImGui::SameLine();
  if (button("Force", why_not,
             fmt::format("All of this query's weight goes to this key, in {} alone.",
                         title_of(view.place(), snapshot.model)),
             look))
    force(view.changes, {view.place(), view.change.query, view.change.key});
}

void draw_side(const Snapshot& snapshot, ChangesView& change, const Look& look) {
  if (snapshot.model.is_language_model()) {
    change.target = true;
    return;
  }
  if (ImGui::RadioButton("source", !change.target)) change.target = false;
  help_tooltip("A piece of the sentence, before the encoder embeds it.", look);
  ImGui::SameLine();
  if (ImGui::RadioButton("decoder input", change.target)) change.target = true;
  help_tooltip("A piece of what the decoder has written, before it embeds it; what is shown stays as written.", look);
}

void draw_replace(const Snapshot& snapshot, AttentionView& view, const Look& look) {
  heading("Replace a token", look);
  ChangesView& change = view.change;
  draw_side(snapshot, change, look);
  const std::vector<Token>& tokens = change.target ? snapshot.target_in : snapshot.source;
  piece_combo("##piece", tokens, static_cast<int>(tokens.size()), change.position, look);
  help_tooltip("The piece whose embedding is replaced.", look);
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted("by");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(look.px(110));
  const bool entered = ImGui::InputTextWithHint("##text", "a word", &change.text, ImGuiInputTextFlags_EnterReturnsTrue);
  help_tooltip("Its first piece of the vocabulary is embedded instead; the sentence stays as typed.", look);
  ImGui::SameLine();
  const bool blank = change.text.find_first_not_of(" \t") == std::string::npos;
  const char* why_not = tokens.empty() ? "Nothing has been decoded yet." : blank ? "Type a word first." : nullptr;
  const bool pressed = button("Replace", why_not, "The model reads the other piece at this place.", look);
  if (!why_not && (pressed || entered)) replace(view.changes, {change.target, change.position, -1, change.text});
}

// What was chosen elsewhere is what is meant here at first.
void begin_change(const Snapshot& snapshot, AttentionView& view) {
  view.change.query = view.pinned_row.value_or(std::max(0, first_row(snapshot, view.part)));
  view.change.key = view.pinned_col.value_or(0);
  view.change.target = snapshot.model.is_language_model() || view.part != AttentionPart::encoder;
  view.change.position = view.change.query;
}

void draw_popup(const Snapshot& snapshot, AttentionView& view, const Look& look) {
  if (!ImGui::BeginPopup(popup_id)) return;
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.text_dim);
  ImGui::TextUnformatted("For this look only: weights and training stay as they are.");
  ImGui::PopStyleColor();
  draw_switches(snapshot, view, look);
  ImGui::Spacing();
  draw_force(snapshot, view, look);
  ImGui::Spacing();
  draw_replace(snapshot, view, look);
  ImGui::EndPopup();
}

// One change with an ✕. Returns true when it is to be taken back; `shown` is set when it was clicked itself.
bool draw_chip(const std::string& text, int id, std::string_view help, bool& shown, const Look& look) {
  const float padding = ImGui::GetStyle().FramePadding.x;
  next_in_row(ImGui::CalcTextSize((text + "✕").c_str()).x + padding * 4, look);
  ImGui::PushID(id);
  ImGui::PushStyleColor(ImGuiCol_Text, look.theme.warning);
  shown = ImGui::SmallButton(text.c_str());
  ImGui::PopStyleColor();
  help_tooltip(help, look);
  ImGui::SameLine(0, 0);
  const bool removed = ImGui::SmallButton("✕");
  help_tooltip("Takes this change back.", look);
  ImGui::PopID();
  return removed;
}

// Draws a chip for every item and takes back those that were asked for.
template <typename T, typename Text, typename Show>
void draw_chips(std::vector<T>& items, int first_id, const char* help, const Text& text, const Show& show,
                const Look& look) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    bool shown = false;
    const bool removed = draw_chip(text(items[i]), first_id + static_cast<int>(i), help, shown, look);
    if (shown) show(items[i]);
    if (!removed) continue;
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    return;  // the rest of them in the next frame
  }
}

void draw_all_chips(const Snapshot& snapshot, AttentionView& view, const Look& look) {
  constexpr int ids = 1000;  // of one kind
  const auto show_head = [&](const HeadPlace& place) { select(view, place); };
  draw_chips(
      view.changes.heads_off, 0, "This head is switched off. Click: shows it.",
      [](const HeadPlace& place) { return short_title(place) + " off"; }, show_head, look);
  draw_chips(
      view.changes.layers_off, ids, "This layer passes its input on. Click: shows it.",
      [](const LayerPlace& layer) { return layer_title(layer) + " off"; },
      [&](const LayerPlace& layer) {
        show_head({layer.decoder ? AttentionPart::decoder : AttentionPart::encoder, layer.layer, view.head});
      },
      look);
  draw_chips(
      view.changes.forced, 2 * ids, "All of this query's weight goes to this key. Click: shows it.",
      [&](const ForcedAttention& it) {
        return fmt::format("{}: {} → {}", short_title(it.place), piece(row_tokens(snapshot, it.place.part), it.query),
                           piece(col_tokens(snapshot, it.place.part), it.key));
      },
      [&](const ForcedAttention& it) {
        show_head(it.place);
        view.pinned_row = it.query;
        view.pinned_col = it.key;
      },
      look);
  draw_chips(
      view.changes.replaced, 3 * ids, "The model reads another piece here.",
      [&](const ReplacedToken& it) {
        return fmt::format("{} read as “{}”", piece(it.target ? snapshot.target_in : snapshot.source, it.position),
                           it.text);
      },
      [](const ReplacedToken&) {}, look);
}

}  // namespace

void toggle_head(Interventions& changes, const HeadPlace& place) {
  toggle(changes.heads_off, place);
}

void toggle_layer(Interventions& changes, const LayerPlace& place) {
  toggle(changes.layers_off, place);
}

void force(Interventions& changes, const ForcedAttention& forced) {
  std::erase_if(changes.forced,
                [&](const ForcedAttention& it) { return it.place == forced.place && it.query == forced.query; });
  changes.forced.push_back(forced);
}

void replace(Interventions& changes, ReplacedToken replaced) {
  std::erase_if(changes.replaced, [&](const ReplacedToken& it) {
    return it.target == replaced.target && it.position == replaced.position;
  });
  changes.replaced.push_back(std::move(replaced));
}

void draw_changes(const ShownMaps& maps, AttentionView& view, const Look& look) {
  // Of an output that is not there yet the last one is shown, as everywhere.
  const Snapshot& snapshot = maps.complete.snapshot ? *maps.complete.snapshot : *maps.newest.snapshot;
  if (!maps.lacks(view.part)) clamp_to(view, *maps.of(view.part).snapshot);
  ImGui::PushID("changes");
  break_choices("Change…");
  if (ImGui::SmallButton("Change…")) {
    begin_change(snapshot, view);
    ImGui::OpenPopup(popup_id);
  }
  help_tooltip(
      "Intervenes in the model for this look: switches off a head or a layer, forces a query to look at one key, or "
      "replaces a token, and shows what comes of it.",
      look);
  draw_popup(snapshot, view, look);
  if (!view.changes.empty()) {
    draw_all_chips(snapshot, view, look);
    next_in_row("Clear all", look);
    if (ImGui::SmallButton("Clear all")) view.changes = {};
    help_tooltip("Takes all changes back.", look);
    draw_effect(maps, view, look);
  }
  ImGui::PopID();
}

}  // namespace attnscope
