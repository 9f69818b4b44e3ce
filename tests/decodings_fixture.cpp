#include "decodings_fixture.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr int eos = 3;
constexpr double alpha = 0.6;

// Continuations of one live hypothesis, the best first.
std::vector<BeamNode> proposals(const std::vector<BeamNode>& tree, int parent, int rank, int step,
                                const DecodingsSize& size) {
  std::vector<BeamNode> nodes;
  const double before = parent < 0 ? 0 : tree[static_cast<std::size_t>(parent)].total;
  for (int choice = 0; choice < 3; ++choice) {
    BeamNode node;
    node.parent = parent;
    node.step = step;
    const bool ends = size.finishes && step == size.steps - 1;
    node.token = {1000 + step * 100 + rank * 3 + choice,
                  "x" + std::to_string(step) + "_" + std::to_string(rank) + "_" + std::to_string(choice)};
    if (rank == 0 && choice == 0) node.token.text = "zq" + std::to_string(step);
    if (ends) node.token = {eos, "</s>"};
    node.log_prob = -0.1 - 1.3 * choice - 0.01 * rank - 0.003 * step;
    node.total = before + node.log_prob;
    node.score = node.total / length_penalty(static_cast<std::size_t>(step) + 1, alpha);
    nodes.push_back(std::move(node));
    if (ends) break;
  }
  return nodes;
}

std::vector<BeamNode> beam_tree(const DecodingsSize& size) {
  std::vector<BeamNode> tree;
  std::vector<int> live = {-1};
  for (int step = 0; step < size.steps; ++step) {
    std::vector<BeamNode> step_nodes;
    for (std::size_t rank = 0; rank < live.size(); ++rank) {
      for (BeamNode& node : proposals(tree, live[rank], static_cast<int>(rank), step, size))
        step_nodes.push_back(std::move(node));
    }
    std::ranges::stable_sort(step_nodes, std::ranges::greater(), &BeamNode::total);
    step_nodes.resize(std::min(step_nodes.size(), static_cast<std::size_t>(2 * size.beam)));
    live.clear();
    for (std::size_t i = 0; i < step_nodes.size(); ++i) {
      BeamNode& node = step_nodes[i];
      const bool stays = static_cast<int>(i) < size.beam;
      node.state = !stays                 ? HypothesisState::pruned
                   : node.token.id == eos ? HypothesisState::finished
                                          : HypothesisState::kept;
      if (stays) live.push_back(static_cast<int>(tree.size() + i));
    }
    tree.insert(tree.end(), step_nodes.begin(), step_nodes.end());
  }
  return tree;
}

Reading reading(Method method, int number, const std::vector<BeamNode>& tree, int end) {
  Reading made;
  made.method = method;
  made.number = number;
  for (const int index : path_nodes(tree, path_ids(tree, end))) {
    const BeamNode& node = tree[static_cast<std::size_t>(index)];
    made.tokens.push_back(node.token);
    made.log_probs.push_back(node.log_prob);
    made.text += node.token.text + " ";
  }
  const BeamNode& last = tree[static_cast<std::size_t>(end)];
  made.log_prob = last.total;
  made.score = last.score;
  made.finished = last.state == HypothesisState::finished;
  return made;
}

AttentionMaps even_maps(int rows, int cols) {
  Matrix map(rows, cols);
  for (float& weight : map.values) weight = 1.0F / static_cast<float>(cols);
  return AttentionMaps(2, std::vector<Matrix>(2, map));
}

}  // namespace

std::shared_ptr<Decodings> fixture_decodings(DecodingsSize size, const std::vector<Token>& keys) {
  auto made = std::make_shared<Decodings>();
  made->tree = beam_tree(size);
  made->length_penalty = alpha;
  std::vector<int> ends;
  for (std::size_t i = 0; i < made->tree.size(); ++i) {
    const BeamNode& node = made->tree[i];
    if (node.step == size.steps - 1 && node.state != HypothesisState::pruned) ends.push_back(static_cast<int>(i));
  }
  made->readings.push_back(reading(Method::greedy, 1, made->tree, ends.front()));
  for (std::size_t i = 0; i < ends.size(); ++i)
    made->readings.push_back(reading(Method::beam, static_cast<int>(i) + 1, made->tree, ends[i]));
  for (int i = 0; i < size.samples; ++i) {
    Reading drawn = reading(Method::sample, i + 1, made->tree, ends.back());
    drawn.tokens.front() = {900 + i, "drawn" + std::to_string(i)};
    made->readings.push_back(std::move(drawn));
  }
  const Reading& best = made->readings.front();
  made->hypothesis.ids = path_ids(made->tree, ends.front());
  made->hypothesis.text = best.text;
  made->hypothesis.queries = best.tokens;
  made->hypothesis.keys = keys;
  made->hypothesis.maps = even_maps(static_cast<int>(best.tokens.size()), static_cast<int>(keys.size()));
  return made;
}

}  // namespace attnscope
