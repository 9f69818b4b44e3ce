// Residual-stream patching by position: after which layer, and at which word, the difference is located.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>

#include "base/numbers.h"
#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr const char* dragged_word = "circuit word";

std::string layer_name(int layer) {
  return layer == 0 ? tr("before layer 1") : trf("after layer {}", layer);
}

int put_layer(const CircuitView& view) {
  const int last = view.places.rows - 1;
  return view.layer < 0 ? last : std::min(view.layer, last);
}

std::string put_text(const CircuitView& view, int layer, const std::vector<int>& slots) {
  return trf("Patching {} {} from the {} into the {}:", slot_names(view.inspection->found, slots), layer_name(layer),
             view.of == ContrastSide::clean ? tr("contrast sentence") : tr("sentence"),
             view.of == ContrastSide::clean ? tr("sentence") : tr("contrast sentence"));
}

void try_put(WorkspaceContext& context, CircuitView& view) {
  if (view.put.empty()) return;
  const int layer = put_layer(view);
  try_change(context, view, states_run(view, layer, view.put), put_text(view, layer, view.put));
}

void toggle(std::vector<int>& slots, int slot) {
  if (std::erase(slots, slot) == 0) slots.push_back(slot);
  std::ranges::sort(slots);
}

// ---- the two sentences as words, one of which is dragged onto the other

void draw_chip(const std::string& word, int slot, bool marked, const Skin& skin) {
  next_in_row(button_width(word.c_str()), skin.px(4));
  if (marked) ImGui::PushStyleColor(ImGuiCol_Button, skin.theme.accent);
  if (marked) ImGui::PushStyleColor(ImGuiCol_Text, text_on(skin.theme.accent));
  ImGui::Button(fmt::format("{}##{}", word, slot).c_str());
  if (marked) ImGui::PopStyleColor(2);
}

void draw_sentences(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const ContrastFacts& facts = view.inspection->facts;
  const auto is_put = [&](int slot) { return std::ranges::find(view.put, slot) != view.put.end(); };
  for (const ContrastSide contrast : {other(view.of), view.of}) {
    const bool gives = contrast != view.of;
    ImGui::PushID(gives);
    ImGui::AlignTextToFramePadding();
    quiet_words(gives ? tr("Patch from") : tr("Patch into"),
                gives ? tr("Drag a word onto the sentence below, or click it, to patch its vector there. Several words "
                           "can be patched together.")
                      : tr("This sentence's forward pass is patched. Click a patched word to undo it."),
                skin);
    const std::vector<Slot> words = slots_of(facts.of(contrast).tokens);
    for (std::size_t i = 0; i < words.size() && i < facts.words.size(); ++i) {
      const int slot = static_cast<int>(i);
      draw_chip(words[i].name, slot, is_put(slot), skin);
      if (ImGui::IsItemClicked() && !gives && is_put(slot)) {
        toggle(view.put, slot);
        try_put(context, view);
      }
      if (gives && ImGui::BeginDragDropSource(ImGuiDragDropFlags_None)) {
        ImGui::SetDragDropPayload(dragged_word, &slot, sizeof slot);
        plain_text(words[i].name);
        ImGui::EndDragDropSource();
      }
      if (gives && ImGui::IsItemDeactivated() && ImGui::IsItemHovered()) {
        toggle(view.put, slot);
        try_put(context, view);
      }
      if (!gives && ImGui::BeginDragDropTarget()) {
        if (const ImGuiPayload* payload = ImGui::AcceptDragDropPayload(dragged_word)) {
          const int dropped = *static_cast<const int*>(payload->Data);
          if (!is_put(dropped)) toggle(view.put, dropped);
          try_put(context, view);
        }
        ImGui::EndDragDropTarget();
      }
    }
    ImGui::PopID();
  }
}

// ---- the maps

HeatmapOptions share_options(const Skin& skin) {
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.low = -1;
  options.high = 1;
  options.square = false;
  options.faint_zeros = true;
  return options;
}

void place_tooltip(const CircuitView& view, int layer, int slot, const Skin& skin) {
  const Circuit& found = view.inspection->found;
  bold_text(found.slots[static_cast<std::size_t>(slot)] + ", " + layer_name(layer), skin);
  const float share = view.places.at(layer, slot);
  const ContrastFacts& facts = view.inspection->facts;
  const double margin = view.of == ContrastSide::clean ? facts.clean.margin - share * facts.effect()
                                                       : facts.corrupted.margin + share * facts.effect();
  share_tooltip(view, {share, static_cast<float>(margin), 0}, skin);
  dim_text(tr("click: patch it and see the translation; Shift + click: add it to the other patched words"), skin);
}

void draw_read(WorkspaceContext& context, CircuitView& view, float height) {
  const Skin& skin = context.skin;
  const Circuit& found = view.inspection->found;
  draw_caption(
      view.inspection->facts.recurrent ? tr("Effect of patching the state after each word")
                                       : tr("Effect of patching each word's vector"),
      "",
      view.inspection->facts.recurrent
          ? tr("A layer's state after one word (h, and c of an LSTM) is patched from one forward pass into the other. "
               "0: no effect; 1: the answer changes by the whole difference between the two sentences.")
          : tr("One word's residual-stream vector is patched from one forward pass into the other, at each layer. 0: "
               "no effect; 1: the answer changes by the whole difference between the two sentences."),
      skin);
  std::vector<std::string> rows;
  for (int row = 0; row < view.places.rows; ++row) rows.push_back(layer_name(row));
  HeatmapOptions options = share_options(skin);
  options.row_labels = rows;
  options.col_labels = found.slots;
  options.row_axis = tr("layer");
  options.col_axis = tr("word");
  options.selected_row = put_layer(view);
  if (!found.places.empty()) options.marked_cols = found.places.back().slots;
  options.zoom = &view.places_zoom;
  options.tooltip = [&](int row, int col) { place_tooltip(view, row, col, skin); };
  const HeatmapResult mouse =
      draw_heatmap("places", view.places, view.version, {0, height}, options, context.textures, skin);
  if (!mouse.clicked) return;
  view.layer = mouse.row;
  if (!ImGui::GetIO().KeyShift) view.put.clear();
  toggle(view.put, mouse.col);
  try_put(context, view);
}

void draw_written(WorkspaceContext& context, CircuitView& view, float height) {
  const Skin& skin = context.skin;
  const CircuitResult& inspection = *view.inspection;
  const EffectGrid& grid = inspection.sweep(view.of, ChangeKind::contrast).decoder_states;
  draw_caption(
      inspection.facts.recurrent ? tr("The same for the decoder's states") : tr("The same for the decoder's vectors"),
      "", tr("For the tokens generated before the compared step."), skin);
  std::vector<std::string> rows, cols = {"<s>"};
  for (int row = 0; row < view.written.rows; ++row) rows.push_back(layer_name(row));
  for (const Token& token : inspection.facts.prefix) cols.emplace_back(without_mark(token.text));
  HeatmapOptions options = share_options(skin);
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = tr("layer");
  options.col_axis = tr("generated so far");
  options.zoom = &view.written_zoom;
  options.tooltip = [&](int row, int col) {
    bold_text(cols[static_cast<std::size_t>(col)] + ", " + layer_name(row), skin);
    share_tooltip(view, grid.at(row, col), skin);
  };
  const HeatmapResult mouse =
      draw_heatmap("written", view.written, view.version, {0, height}, options, context.textures, skin);
  if (!mouse.clicked) return;
  const ValueSite site{ValueKind::state, AttentionPart::decoder, mouse.row};
  try_change(context, view, {view.of, {Change{ChangeKind::contrast, site, {}, {mouse.col}, {}, {}}}},
             trf("Patching the decoder's vector at \u201C{}\u201D {}:", cols[static_cast<std::size_t>(mouse.col)],
                 layer_name(mouse.row)));
}

}  // namespace

void draw_place(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  const Circuit& found = view.inspection->found;
  if (view.places.empty()) return;
  draw_sentences(context, view);
  draw_trial(view, skin);
  if (!found.places.empty()) {
    const Place& last = found.places.back();
    draw_wrapped_label(
        skin.fonts.ui, skin.theme.text,
        trf("Patching the vector at {} after the last layer {}. All other words together: {} of the effect.",
            slot_names(found, last.slots), tally_text(last.together), percent_text(last.rest.share())),
        skin);
  }
  const float room = ImGui::GetContentRegionAvail().y;
  const bool both = !view.written.empty();
  const float caption = ImGui::GetTextLineHeightWithSpacing();
  draw_read(context, view, both ? std::max(skin.px(90), room / 2 - caption) : 0);
  if (both) draw_written(context, view, 0);
}

}  // namespace attnscope
