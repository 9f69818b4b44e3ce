// Which head, at which word, moves the difference.
#include <fmt/format.h>
#include <imgui.h>

#include <array>

#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::array<ChoiceText<AttentionPart>, 3> parts = {{
    {AttentionPart::encoder, "encoder", "Self-attention of the words that are read."},
    {AttentionPart::cross, "cross-attention", "What the decoder reads of them."},
    {AttentionPart::decoder, "decoder", "Self-attention of what is written."},
}};

std::vector<std::string> positions_text(const CircuitView& view) {
  const TwinFacts& facts = view.look->facts;
  std::vector<std::string> names;
  if (view.part == AttentionPart::encoder || facts.language_model)
    for (const Token& token : facts.clean.pieces) names.emplace_back(without_mark(token.piece));
  if (view.part == AttentionPart::encoder) return names;
  if (!facts.language_model) names.emplace_back("<s>");
  for (const Token& token : facts.prefix) names.emplace_back(without_mark(token.piece));
  return names;
}

void draw_parts(CircuitView& view, const Skin& skin) {
  if (view.look->facts.language_model) return;
  for (const auto& [part, title, help] : parts) {
    if (!draw_choice(title, view.part == part, help, skin)) continue;
    view.part = part;
    make_matrices(view);
  }
  end_choices();
}

// Who looks hard and does nothing.
std::string decoys_text(const Circuit& found) {
  std::string text;
  for (const Decoy& decoy : found.decoys) {
    text += fmt::format(
        "{}{} looks from \u201C{}\u201D at \u201C{}\u201D with {:.2f} of its weight, for the other sentence {:.2f}, "
        "and moves {:.3f}.",
        text.empty() ? "Decoys: " : " ", layer_and_head(decoy.place.layer, decoy.place.head),
        found.slots[static_cast<std::size_t>(decoy.from)], found.slots[static_cast<std::size_t>(decoy.to)],
        decoy.weight, decoy.twin_weight, decoy.effect.share());
  }
  return text;
}

}  // namespace

void draw_circuit_heads(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  draw_parts(view, skin);
  if (view.rows.empty()) return draw_quiet_note("The model has no such heads.", ImGui::GetContentRegionAvail(), skin);
  draw_trial(view, skin);
  const std::string decoys = decoys_text(shown_circuit(view));
  if (!decoys.empty()) draw_wrapped_label(skin.fonts.ui, skin.theme.text, decoys, skin);
  draw_caption("Share of the difference that a head's row brings", "bars: at all positions together",
               "What one head gives at one position, before its part of W_O, is put from the one run into the other.",
               skin);
  const CircuitLook& look = *view.look;
  const Sweep& swept = view.of == Twin::clean ? look.noising : look.denoising;
  const int heads = swept.rows(view.part).front().rows;
  std::vector<std::string> rows;
  for (int row = 0; row < view.rows.rows; ++row) rows.push_back(layer_and_head(row / heads, row % heads));
  const std::vector<std::string> cols = positions_text(view);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.low = -1;
  options.high = 1;
  options.square = false;
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = "head";
  options.col_axis = "position of its query";
  options.row_bars = {view.whole, 1, "whole head", "", "The head's output at all positions together, put in."};
  options.zoom = &view.rows_zoom;
  options.tooltip = [&](int row, int col) {
    bold_text(rows[static_cast<std::size_t>(row)] + " at \u201C" + cols[static_cast<std::size_t>(col)] + "\u201D",
              skin);
    share_tooltip(view, swept.rows(view.part)[static_cast<std::size_t>(row / heads)].at(row % heads, col), skin);
    const Effect& whole = swept.heads(view.part).at(row / heads, row % heads);
    dim_text(fmt::format("at all positions: {:.3f}", whole.share), skin);
    dim_text("click: what is written then; on the name: of the whole head", skin);
  };
  const HeatmapResult mouse = draw_heatmap("rows", view.rows, view.version, {0, 0}, options, context.textures, skin);
  const int row = mouse.label_clicked ? mouse.row_label : mouse.clicked ? mouse.row : -1;
  if (row < 0) return;
  std::vector<int> positions;
  if (mouse.clicked) {
    positions = {mouse.col};
  } else {
    for (int col = 0; col < view.rows.cols; ++col) positions.push_back(col);
  }
  try_change(
      context, view, heads_run(view, view.part, row / heads, {row % heads}, positions),
      fmt::format("{} {} at {}, put in:", part_name(view.part), rows[static_cast<std::size_t>(row)],
                  mouse.clicked ? "\u201C" + cols[static_cast<std::size_t>(mouse.col)] + "\u201D" : "all positions"));
}

}  // namespace attnscope
