// Which head, at which position, carries the difference.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>

#include "base/translation.h"
#include "widgets/heatmap.h"
#include "widgets/row.h"
#include "widgets/words.h"
#include "workspaces/circuit/modes.h"

namespace attnscope {
namespace {

constexpr std::array<ChoiceText<AttentionPart>, 3> parts = {{
    {AttentionPart::encoder, mark("encoder"), mark("Self-attention over the input tokens.")},
    {AttentionPart::cross, mark("cross-attention"), mark("Attention from the decoder to the input tokens.")},
    {AttentionPart::decoder, mark("decoder"), mark("Self-attention over the generated tokens.")},
}};

std::vector<std::string> positions_text(const CircuitView& view) {
  const ContrastFacts& facts = view.inspection->facts;
  std::vector<std::string> names;
  if (view.part == AttentionPart::encoder || facts.language_model)
    for (const Token& token : facts.clean.tokens) names.emplace_back(without_mark(token.text));
  if (view.part == AttentionPart::encoder) return names;
  if (!facts.language_model) names.emplace_back("<s>");
  for (const Token& token : facts.prefix) names.emplace_back(without_mark(token.text));
  return names;
}

void draw_parts(CircuitView& view, const Skin& skin) {
  const Sweep& swept = view.inspection->sweeps.front();
  if (std::ranges::count_if(parts, [&](const auto& it) { return !swept.rows(it.value).empty(); }) < 2) return;
  for (const auto& [part, title, help] : parts) {
    if (swept.rows(part).empty()) continue;
    if (!draw_choice(tr_label(title), view.part == part, tr(help), skin)) continue;
    view.part = part;
    make_matrices(view);
  }
  end_choices();
}

constexpr std::array<ChoiceText<ChangeKind>, 4> kinds = {{
    {ChangeKind::contrast, mark("Activation patching"),
     mark("Activation patching: replaces this head's output with its output on the other sentence. Does that change "
          "the answer? Everything else in the head stays (arXiv 2404.15255).")},
    {ChangeKind::zero, mark("Zero ablation"),
     mark("Zero ablation: replaces the head's output with zeros. The model never met this in training, so the effect "
          "may be exaggerated.")},
    {ChangeKind::mean, mark("Mean ablation"),
     mark("Mean ablation: replaces the head's output with its mean over the words of both sentences. This keeps what "
          "is constant and removes what is specific to this word.")},
    {ChangeKind::exchange, mark("Swapped attention"),
     mark("Swaps the attention weights of two words: does it matter which of them the head attends to? Unlike an "
          "ablated head, it still attends, only elsewhere.")},
}};

// Continues the row.
void draw_exchanged(CircuitView& view, const Skin& skin) {
  const ContrastFacts& facts = view.inspection->facts;
  bool changed = choose_word("##one", tr("swap"), tr("The first of the two words whose attention weights are swapped."),
                             facts, view.exchanged[0], false, skin);
  changed |=
      choose_word("##other", tr("and"), tr("The second of the two words."), facts, view.exchanged[1], false, skin);
  if (changed) make_matrices(view);
}

void draw_kinds(CircuitView& view, const Skin& skin) {
  quiet_words(tr("Replace with"), tr("The value that replaces the head's output."), skin);
  ImGui::SameLine(0, skin.px(6));
  for (const auto& [kind, title, help] : kinds) {
    if (kind == ChangeKind::exchange && view.exchanged.empty()) continue;
    if (!draw_choice(tr_label(title), view.kind == kind, tr(help), skin)) continue;
    view.kind = kind;
    view.trial.reset();
    make_matrices(view);
  }
  if (view.kind == ChangeKind::exchange) return draw_exchanged(view, skin);
  end_choices();
}

// Selects between the total effect of a head and its direct path to the heads of one edge.
void draw_way(CircuitView& view, const Skin& skin) {
  const Circuit& circuit = shown_circuit(view);
  const auto name = [&](int edge) {
    return edge < 0 ? std::string(tr("all paths"))
                    : tr("direct path to ") + edge_text(circuit, circuit.edges[static_cast<std::size_t>(edge)]);
  };
  ImGui::AlignTextToFramePadding();
  quiet_words(tr("Path"),
              tr("Path patching: the head's output is patched, but only its direct path to the chosen heads counts. "
                 "All other heads and feed-forward networks in between keep their original output (arXiv 2211.00593)."),
              skin);
  ImGui::SameLine(0, skin.px(6));
  ImGui::SetNextItemWidth(std::min(skin.px(380), ImGui::GetContentRegionAvail().x));
  if (!begin_combo("##way", name(view.by_way))) return;
  for (int edge = -1; edge < static_cast<int>(circuit.edges.size()); ++edge) {
    if (!ImGui::Selectable(name(edge).c_str(), view.by_way == edge)) continue;
    view.by_way = edge;
    make_matrices(view);
  }
  ImGui::EndCombo();
}

// Describes what a click patches.
const char* put_in(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::contrast:
      return tr("patched");
    case ChangeKind::zero:
      return tr("zero ablation");
    case ChangeKind::mean:
      return tr("mean ablation");
    case ChangeKind::exchange:
      return tr("attention weights swapped");
  }
  return "";
}

// Names the heads that attend strongly but have no effect.
std::string decoys_text(const Circuit& found) {
  std::string text;
  for (const Decoy& decoy : found.decoys) {
    text +=
        trf("{}{} attends from \u201C{}\u201D to \u201C{}\u201D with weight {:.2f} ({:.2f} in the other sentence), but "
            "its effect is only {}.",
            text.empty() ? tr("Decoys, strong attention with little effect: ") : " ",
            layer_and_head(decoy.place.layer, decoy.place.head), found.slots[static_cast<std::size_t>(decoy.from)],
            found.slots[static_cast<std::size_t>(decoy.to)], decoy.weight, decoy.corrupted_weight,
            percent_text(decoy.effect.share()));
  }
  return text;
}

// A click on a cell tries that patch; a click on a name tries the whole row.
void try_row(WorkspaceContext& context, CircuitView& view, const HeatmapResult& mouse,
             const std::vector<std::string>& cols) {
  const int row = mouse.label_clicked ? mouse.row_label : mouse.clicked ? mouse.row : -1;
  if (row < 0) return;
  const RowPlace& place = view.row_places[static_cast<std::size_t>(row)];
  std::vector<int> positions;
  if (mouse.clicked) {
    positions = {mouse.col};
  } else {
    for (int col = 0; col < view.rows.cols; ++col) positions.push_back(col);
  }
  const std::string at =
      mouse.clicked ? "\u201C" + cols[static_cast<std::size_t>(mouse.col)] + "\u201D" : tr("all positions");
  try_change(context, view, row_run(view, place, positions),
             trf("{} {} at {}, {}:", tr(part_name(view.part)), row_name(place, view.inspection->facts), at,
                 put_in(view.kind)));
}

void draw_map(WorkspaceContext& context, CircuitView& view, const Sweep& shown) {
  const Skin& skin = context.skin;
  draw_caption(tr("Effect of each head at each position"), tr("bars: all positions at once"),
               tr("The output of one head at one position (before W_O), or of one feed-forward network, is replaced as "
                  "chosen above. The effect is the share of the difference between the two sentences' log-odds that "
                  "this moves: 0 nothing, 1 all of it."),
               skin);
  std::vector<std::string> rows;
  for (const RowPlace& place : view.row_places) rows.push_back(row_name(place, view.inspection->facts));
  const std::vector<std::string> cols = positions_text(view);
  HeatmapOptions options;
  options.map = skin.theme.diverging;
  options.low = -1;
  options.high = 1;
  options.square = false;
  options.row_labels = rows;
  options.col_labels = cols;
  options.row_axis = tr("component");
  options.col_axis = tr("position");
  options.faint_zeros = true;
  options.row_bars = {view.whole, 1, tr("all positions"), "",
                      tr("The effect of replacing its output at all positions at once.")};
  options.zoom = &view.rows_zoom;
  const bool tries = view.by_way < 0 || view.kind != ChangeKind::contrast;
  options.tooltip = [&](int row, int col) {
    const RowPlace& place = view.row_places[static_cast<std::size_t>(row)];
    bold_text(trf("{} at \u201C{}\u201D", rows[static_cast<std::size_t>(row)], cols[static_cast<std::size_t>(col)]),
              skin);
    share_tooltip(view, effect_at(shown, place, col), skin);
    dim_text(trf("effect at all positions: {}", percent_text(static_cast<double>(whole_effect(shown, place).share))),
             skin);
    dim_text(tries ? tr("click: try it and see the translation; click the name: at all positions")
                   : tr("only along the chosen path"),
             skin);
  };
  // A recurrent decoder's single row need not fill the window.
  const float height = std::min(ImGui::GetContentRegionAvail().y, skin.px(110 + 64 * static_cast<float>(rows.size())));
  const HeatmapResult mouse =
      draw_heatmap("rows", view.rows, view.version, {0, height}, options, context.textures, skin);
  if (tries) try_row(context, view, mouse, cols);
}

}  // namespace

void draw_circuit_heads(WorkspaceContext& context, CircuitView& view) {
  const Skin& skin = context.skin;
  draw_parts(view, skin);
  draw_kinds(view, skin);
  const bool has_ways = !shown_circuit(view).edges.empty() && !view.inspection->facts.recurrent;
  if (view.kind == ChangeKind::contrast && has_ways) draw_way(view, skin);
  draw_trial(view, skin);
  const Sweep* shown = shown_sweep(view);
  if (!shown || view.rows.empty()) {
    const std::string problem = view.swept ? tr_filled(view.swept->problem) : "";
    const char* const text = !problem.empty() ? problem.c_str()
                             : shown ? tr("This model has no heads. Its states are under \u201CBy position\u201D.")
                                     : tr("Patching one head after another\u2026");
    return draw_quiet_note(text, ImGui::GetContentRegionAvail(), skin);
  }
  const std::string decoys = decoys_text(shown_circuit(view));
  if (!decoys.empty()) draw_wrapped_label(skin.fonts.ui, skin.theme.text, decoys, skin);
  draw_map(context, view, *shown);
}

}  // namespace attnscope
