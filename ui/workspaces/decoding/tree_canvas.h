// The tree of a beam search as a picture that zooms and pans.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/skin.h"
#include "plain/decodings.h"
#include "plain/series.h"
#include "widgets/plot.h"

namespace attnscope {

// Where the nodes of a beam's tree stand: a column a step, the best hypothesis a straight line, and no two edges
// crossing.
struct TreeLayout {
  std::vector<std::vector<int>> columns;  // of every step the nodes that are shown, from top to bottom
  std::vector<float> rows;                // of every node; the best hypothesis stands in row 0, smaller ones are above
  float top = 0;                          // the smallest row
  float bottom = 0;                       // the largest
};

TreeLayout tree_layout(const std::vector<BeamNode>& tree, bool with_pruned);

enum class TreeZoom {
  readable,  // as much as can be read; the rest is scrolled to
  whole,     // all of it
  own,       // as the wheel left it
};

// What the beam's tree remembers from frame to frame.
struct TreeView {
  bool with_pruned = true;
  TreeZoom zoom = TreeZoom::readable;
  ImVec2 pitch;         // pixels from column to column and from row to row; of `own`
  std::string text;     // whose tree it is
  bool arrived = true;  // it is another one's: it is looked at from its beginning

  PlotAxis score_axis;
  PlotView score_view;

  // ---- made from the snapshot shown, once
  std::uint64_t version = 0;  // Shown::version
  bool has_pruned = false;    // with_pruned when it was made
  TreeLayout layout;
  std::vector<int> best_path;  // nodes
  std::vector<Series> scores;  // of every hypothesis of the beam, over its pieces
};

struct TreeCanvasResult {
  int hovered = -1;  // node under the mouse
  int clicked = -1;
};

// `tree` is what view.layout was made of; `marked` the nodes of the hypothesis that is looked at. The wheel zooms at
// the cursor (Shift: along the steps only, Ctrl: across only), a drag pans, a double-click shows all of it, another one
// makes it readable again.
TreeCanvasResult draw_tree_canvas(const std::vector<BeamNode>& tree, std::span<const int> marked, TreeView& view,
                                  ImVec2 size, const Skin& skin);

// What the tree needs of a height of `most`.
float tree_canvas_height(const TreeView& view, float most, const Skin& skin);

// What the nodes look like, in one line.
void draw_tree_legend(const Skin& skin);

}  // namespace attnscope
