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

constexpr std::array<ChoiceText<ChangeKind>, 3> kinds = {{
    {ChangeKind::twin, "from the other sentence",
     "Patching: does what this head says of the one sentence, said of the other, move the answer? All else that the "
     "head does stays (arXiv 2404.15255)."},
    {ChangeKind::zero, "nothing", "Zero ablation: what if it said nothing at all? The model has never met that."},
    {ChangeKind::mean, "its mean",
     "Mean ablation: what if it said what it says on average, over both sentences' words? What it always says is "
     "left, what it says of this word is gone."},
}};

void draw_kinds(CircuitView& view, const Skin& skin) {
  quiet_words("put in", "What takes the place of the head's output.", skin);
  ImGui::SameLine(0, skin.px(6));
  for (const auto& [kind, title, help] : kinds) {
    if (!draw_choice(title, view.kind == kind, help, skin)) continue;
    view.kind = kind;
    view.trial.reset();
    make_matrices(view);
  }
  end_choices();
}

// What a click has put in, in words.
const char* put_in(ChangeKind kind) {
  return kind == ChangeKind::zero ? "nothing in its place" : kind == ChangeKind::mean ? "its mean put in" : "put in";
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
  draw_kinds(view, skin);
  if (view.rows.empty()) return draw_quiet_note("The model has no such heads.", ImGui::GetContentRegionAvail(), skin);
  draw_trial(view, skin);
  const std::string decoys = decoys_text(shown_circuit(view));
  if (!decoys.empty()) draw_wrapped_label(skin.fonts.ui, skin.theme.text, decoys, skin);
  draw_caption("Share of the difference that a head's row brings", "bars: at all positions together",
               "What one head gives at one position, before its part of W_O, is replaced: by what it gave of the other "
               "sentence, by nothing, or by its mean. The share is of the difference between the two sentences.",
               skin);
  const Sweep& swept = shown_sweep(view);
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
      fmt::format("{} {} at {}, {}:", part_name(view.part), rows[static_cast<std::size_t>(row)],
                  mouse.clicked ? "\u201C" + cols[static_cast<std::size_t>(mouse.col)] + "\u201D" : "all positions",
                  put_in(view.kind)));
}

}  // namespace attnscope
