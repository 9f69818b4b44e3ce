#include "plain/decodings.h"

#include <algorithm>
#include <cmath>

namespace attnscope {

double length_penalised(double log_prob, std::size_t length, double alpha) {
  return log_prob / std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

std::vector<int> path_ids(const std::vector<BeamNode>& tree, int node) {
  std::vector<int> ids;
  for (; node >= 0; node = tree[static_cast<std::size_t>(node)].parent)
    ids.push_back(tree[static_cast<std::size_t>(node)].token.id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

}  // namespace attnscope
