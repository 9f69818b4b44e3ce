#include "workspaces/decoding/tree_canvas.h"

#include <algorithm>

namespace attnscope {
namespace {

class Placer {
 public:
  Placer(const std::vector<BeamNode>& tree, bool with_pruned) : tree_(tree) {
    layout_.rows.resize(tree.size(), 0);
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const auto step = static_cast<std::size_t>(tree[i].step);
      if (layout_.columns.size() <= step) layout_.columns.resize(step + 1);
      if (with_pruned || tree[i].state != HypothesisState::pruned) layout_.columns[step].push_back(static_cast<int>(i));
    }
    for (const auto& column : layout_.columns) most_ = std::max(most_, static_cast<float>(column.size()));
    best_.resize(layout_.columns.size(), -1);
    for (int node = best_end(tree); node >= 0; node = at(node).parent)
      best_[static_cast<std::size_t>(at(node).step)] = node;
  }

  TreeLayout place() {
    for (std::size_t step = 0; step < layout_.columns.size(); ++step) {
      order(layout_.columns[step]);
      place(layout_.columns[step], best_[step]);
    }
    return std::move(layout_);
  }

 private:
  const BeamNode& at(int node) const { return tree_[static_cast<std::size_t>(node)]; }
  float& row(int node) { return layout_.rows[static_cast<std::size_t>(node)]; }
  float parent_row(int node) { return at(node).parent < 0 ? 0 : row(at(node).parent); }

  // Sorts children in the order of their parents, so that edges do not cross. Within a step, the best is already first.
  void order(std::vector<int>& column) {
    std::ranges::stable_sort(column, {}, [this](int node) { return parent_row(node); });
  }

  // Places nodes as close to their parents as possible, from the best outwards. Limits the distance from row 0 to what
  // the fullest column needs.
  void place(const std::vector<int>& column, int best) {
    const auto count = static_cast<int>(column.size());
    const auto found = std::ranges::find(column, best);
    const int middle = found == column.end() ? -1 : static_cast<int>(found - column.begin());
    if (middle >= 0) row(best) = 0;
    float last = middle >= 0 ? 0 : -most_;
    for (int i = middle + 1; i < count; ++i) {
      const int node = column[static_cast<std::size_t>(i)];
      const float lowest = most_ - static_cast<float>(count - i);
      last = std::max(last + 1, std::min(parent_row(node), lowest));
      row(node) = last;
    }
    last = 0;
    for (int i = middle - 1; i >= 0; --i) {
      const int node = column[static_cast<std::size_t>(i)];
      last = std::min(last - 1, std::max(parent_row(node), static_cast<float>(i + 1) - most_));
      row(node) = last;
    }
    for (const int node : column) {
      layout_.top = std::min(layout_.top, row(node));
      layout_.bottom = std::max(layout_.bottom, row(node));
    }
  }

  const std::vector<BeamNode>& tree_;
  TreeLayout layout_;
  std::vector<int> best_;  // per step, the node of the best hypothesis; −1: it has ended
  float most_ = 0;         // maximum number of nodes in a column
};

}  // namespace

TreeLayout tree_layout(const std::vector<BeamNode>& tree, bool with_pruned) {
  return Placer(tree, with_pruned).place();
}

}  // namespace attnscope
