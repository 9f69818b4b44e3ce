#include "messages/decodings.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

// [i][j]: length of the longest common subsequence of a from i on and b from j on.
std::vector<std::vector<int>> common_lengths(std::span<const Token> a, std::span<const Token> b) {
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i].id == b[j].id ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  }
  return common;
}

}  // namespace

double length_penalty(std::size_t length, double alpha) {
  return std::pow((5.0 + static_cast<double>(length)) / 6.0, alpha);
}

double length_penalised(double log_prob, std::size_t length, double alpha) {
  return log_prob / length_penalty(length, alpha);
}

std::vector<int> path_ids(const std::vector<BeamNode>& tree, int node) {
  std::vector<int> ids;
  for (; node >= 0; node = tree[static_cast<std::size_t>(node)].parent)
    ids.push_back(tree[static_cast<std::size_t>(node)].token.id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

std::vector<int> path_nodes(const std::vector<BeamNode>& tree, std::span<const int> ids) {
  std::vector<int> path;
  // Children follow their parents.
  for (std::size_t node = 0; node < tree.size() && path.size() < ids.size(); ++node) {
    const int parent = path.empty() ? -1 : path.back();
    if (tree[node].parent == parent && tree[node].token.id == ids[path.size()]) path.push_back(static_cast<int>(node));
  }
  return path;
}

int best_end(const std::vector<BeamNode>& tree) {
  if (tree.empty()) return -1;
  const bool any_finished =
      std::ranges::any_of(tree, [](const BeamNode& node) { return node.state == HypothesisState::finished; });
  int best = -1;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const BeamNode& node = tree[i];
    const bool ends = any_finished ? node.state == HypothesisState::finished
                                   : node.state == HypothesisState::kept && node.step == tree.back().step;
    if (ends && (best < 0 || node.score > tree[static_cast<std::size_t>(best)].score)) best = static_cast<int>(i);
  }
  return best;
}

std::vector<int> differing(std::span<const Token> tokens, std::span<const Token> others) {
  const auto common = common_lengths(tokens, others);
  std::vector<int> places;
  std::size_t j = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    while (j < others.size() && tokens[i].id != others[j].id && common[i][j] == common[i][j + 1]) ++j;
    if (j < others.size() && tokens[i].id == others[j].id) {
      ++j;
    } else {
      places.push_back(static_cast<int>(i));
    }
  }
  return places;
}

}  // namespace attnscope
