#include "plain/decodings.h"

#include <algorithm>

namespace attnscope {

std::vector<int> path_ids(const std::vector<BeamNode>& tree, int node) {
  std::vector<int> ids;
  for (; node >= 0; node = tree[static_cast<std::size_t>(node)].parent)
    ids.push_back(tree[static_cast<std::size_t>(node)].token.id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

}  // namespace attnscope
