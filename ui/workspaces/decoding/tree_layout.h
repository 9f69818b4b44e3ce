// Where the nodes of a beam's tree stand: a column a step, the best hypothesis a straight line, and no two edges
// crossing.
#pragma once

#include <vector>

#include "plain/decodings.h"

namespace attnscope {

struct TreeLayout {
  std::vector<std::vector<int>> columns;  // of every step the nodes that are shown, from top to bottom
  std::vector<float> rows;                // of every node; the best hypothesis stands in row 0, smaller ones are above
  float top = 0;                          // the smallest row
  float bottom = 0;                       // the largest
};

TreeLayout tree_layout(const std::vector<BeamNode>& tree, bool with_pruned);

}  // namespace attnscope
