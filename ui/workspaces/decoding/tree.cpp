#include "workspaces/decoding/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/input.h"
#include "base/numbers.h"
#include "base/translation.h"
#include "common/clamped.h"
#include "widgets/plot.h"
#include "widgets/words.h"
#include "workspaces/decoding/tree_canvas.h"

namespace attnscope {
namespace {

using Tree = std::vector<BeamNode>;

const BeamNode& at(const Tree& tree, int node) {
  return tree[static_cast<std::size_t>(node)];
}

std::vector<int> ancestors(const Tree& tree, int node) {
  return path_nodes(tree, path_ids(tree, node));
}

// The score of one output after each of its tokens.
Series score_series(const Reading& reading, double alpha) {
  Series series;
  double total = 0;
  for (std::size_t i = 0; i < reading.log_probs.size(); ++i) {
    total += reading.log_probs[i];
    series.x.push_back(static_cast<double>(i + 1));
    series.y.push_back(total / length_penalty(i + 1, alpha));
  }
  return series;
}

// Computes what depends only on the snapshot, once instead of in every frame.
void prepare(TreeView& view, const Shown& shown) {
  if (view.version == shown.version && view.has_pruned == view.with_pruned) return;
  const Decodings& decodings = *shown.snapshot->decodings;
  if (view.text != shown.snapshot->source_text) {
    view.text = shown.snapshot->source_text;
    view.zoom = TreeZoom::readable;
    view.arrived = true;
  }
  view.version = shown.version;
  view.has_pruned = view.with_pruned;
  view.layout = tree_layout(decodings.tree, view.with_pruned);
  view.best_path = ancestors(decodings.tree, best_end(decodings.tree));
  view.scores.clear();
  for (const Reading& reading : decodings.readings) {
    if (reading.method == Method::beam) view.scores.push_back(score_series(reading, decodings.length_penalty));
  }
}

void draw_controls(const Tree& tree, TreeView& view, const Skin& skin) {
  draw_tree_legend(skin);
  ImGui::Checkbox(tr_label("Show pruned"), &view.with_pruned);
  help_tooltip(tr("Also draws the candidates that the search considered and dropped."), skin);
  ImGui::SameLine(0, skin.px(8));
  if (ImGui::Button(tr_label("Fit"))) view.zoom = view.zoom == TreeZoom::whole ? TreeZoom::readable : TreeZoom::whole;
  help_tooltip(tr("Fits the whole tree into the view; click again for a readable size (or double-click). Scroll to "
                  "zoom at the cursor (Shift: only along the steps, Ctrl: only across); drag to pan."),
               skin);
  ImGui::SameLine(0, skin.px(12));
  const std::string considered = trf("{} considered", tree.size());
  if (ImGui::GetContentRegionAvail().x < text_size(skin.fonts.small, considered).x) ImGui::NewLine();
  ImGui::AlignTextToFramePadding();
  small_text(skin.theme.text_dim, considered, skin);
  help_tooltip(
      tr("Each node adds one token to a hypothesis, in the column of its step. Beam search continues from the "
         "best nodes of each step. It returns the finished hypothesis with the best log-probability divided by "
         "a length penalty (paper §6.1; arXiv 1609.08144 §7)."),
      skin);
}

const char* state_text(const BeamNode& node) {
  if (node.state == HypothesisState::finished) return tr("finished: ended with </s> among the best of its step");
  return node.state == HypothesisState::kept ? tr("retained: among the best of its step")
                                             : tr("pruned: the beam was full of better hypotheses");
}

std::string path_text(const Tree& tree, int node) {
  std::string text;
  for (const int step : ancestors(tree, node)) text += at(tree, step).token.text + " ";
  return text;
}

void node_tooltip(const Decodings& decodings, int index, const Skin& skin) {
  const BeamNode& node = at(decodings.tree, index);
  const double before = node.parent < 0 ? 0 : at(decodings.tree, node.parent).total;
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(skin.px(420));
  mono_text(path_text(decodings.tree, index), skin);
  const std::string sums =
      trf("Σ log p = {} + log {:.4f} = {} + ({}) = {}\n{}", number_text(before), std::exp(node.log_prob),
          number_text(before), number_text(node.log_prob), number_text(node.total),
          score_arithmetic(node.total, static_cast<std::size_t>(node.step) + 1, decodings.length_penalty));
  plain_text(sums);
  ImGui::TextDisabled(tr("%s; click to see what it attends to"), state_text(node));
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void draw_scores(TreeView& view, const Skin& skin) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < view.scores.size(); ++i) names.push_back(i == 0 ? tr("best") : fmt::format("{}", i + 1));
  std::vector<PlotLine> lines;
  // The best hypothesis comes last: its line is on top, and its name remains if there is no room for all.
  for (std::size_t i = view.scores.size(); i-- > 0;)
    lines.push_back({names[i], &view.scores[i], series_color(skin.theme, i), 0});
  PlotOptions options;
  options.title = tr("Score by decoding step");
  options.help =
      tr("For each hypothesis that beam search found: Σ log p of its tokens so far, divided by the length penalty "
         "(1609.08144 §7). Where lines cross, another hypothesis takes the lead.");
  options.x_label = tr("tokens");
  draw_plot("scores", lines, ImVec2(0, 0), view.score_axis, view.score_view, options, skin);
}

void draw_beneath(const Shown& shown, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const float width = ImGui::GetContentRegionAvail().x;
  const float plot = width < skin.px(520) ? 0 : clamped(width * 0.33F, skin.px(190), skin.px(420));
  ImGui::BeginChild("hypothesis", ImVec2(plot > 0 ? width - plot - skin.px(12) : 0, 0), false, view_flags());
  draw_hypothesis(shown, view, textures, skin);
  ImGui::EndChild();
  if (plot <= 0) return;
  ImGui::SameLine(0, skin.px(12));
  ImGui::BeginChild("plot", ImVec2(0, 0), false, view_flags());
  draw_scores(view.tree, skin);
  ImGui::EndChild();
}

}  // namespace

void draw_tree(const Shown& newest, DecodingView& view, TextureStore& textures, const Skin& skin) {
  const Shown shown = settled(newest, view, skin);
  if (!shown.snapshot) return;
  const Decodings& decodings = *shown.snapshot->decodings;
  prepare(view.tree, shown);
  draw_controls(decodings.tree, view.tree, skin);
  const std::vector<int> marked = path_nodes(decodings.tree, decodings.hypothesis.ids);
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const float height = tree_canvas_height(view.tree, space.y * 0.58F, skin);
  const TreeCanvasResult result = draw_tree_canvas(decodings.tree, marked, view.tree, ImVec2(space.x, height), skin);
  if (result.hovered >= 0) node_tooltip(decodings, result.hovered, skin);
  if (result.clicked >= 0) view.hypothesis = path_ids(decodings.tree, result.clicked);
  draw_beneath(shown, view, textures, skin);
}

}  // namespace attnscope
