// The tree of a beam search as a picture with zoom and pan.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/skin.h"
#include "common/series.h"
#include "messages/decodings.h"
#include "widgets/plot.h"

namespace attnscope {

// Node positions of a beam search tree: one column per step, the best hypothesis on a straight line, no crossing edges.
struct TreeLayout {
  std::vector<std::vector<int>> columns;  // per step, the visible nodes from top to bottom
  std::vector<float> rows;                // per node; the best hypothesis is in row 0, smaller rows are above
  float top = 0;                          // smallest row
  float bottom = 0;                       // largest row
};

TreeLayout tree_layout(const std::vector<BeamNode>& tree, bool with_pruned);

enum class TreeZoom {
  readable,  // at a readable scale; the rest is scrolled to
  whole,     // all of it
  own,       // as set with the wheel
};

// State of the beam's tree that persists between frames.
struct TreeView {
  bool with_pruned = true;
  TreeZoom zoom = TreeZoom::readable;
  ImVec2 pitch;         // column and row spacing in pixels; for `own`
  std::string text;     // the sentence of the tree
  bool arrived = true;  // a new sentence arrived: scroll to the start

  PlotAxis score_axis;
  PlotView score_view;

  // ---- derived from the displayed snapshot, once
  std::uint64_t version = 0;  // Shown::version
  bool has_pruned = false;    // value of with_pruned when it was computed
  TreeLayout layout;
  std::vector<int> best_path;  // nodes
  std::vector<Series> scores;  // per hypothesis of the beam, over its tokens
};

struct TreeCanvasResult {
  int hovered = -1;  // node under the mouse
  int clicked = -1;
};

// `tree` must be the source of view.layout; `marked` holds the nodes of the selected hypothesis. The wheel zooms at the
// cursor (Shift: only along the steps, Ctrl: only across), a drag pans. A double-click shows the whole tree; another
// one returns to a readable scale.
TreeCanvasResult draw_tree_canvas(const std::vector<BeamNode>& tree, std::span<const int> marked, TreeView& view,
                                  ImVec2 size, const Skin& skin);

// The height that the tree needs, at most `most`.
float tree_canvas_height(const TreeView& view, float most, const Skin& skin);

// Draws the legend of the nodes on one line.
void draw_tree_legend(const Skin& skin);

}  // namespace attnscope
