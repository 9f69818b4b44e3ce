// The outputs that one sentence can have: greedy, beam and samples side by side, all that the beam considered, and what
// each layer would already have said.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

enum class Method { greedy, beam, sample };

// One output with its score.
struct Reading {
  Method method = Method::greedy;
  int number = 1;                 // of several: the beam's, best first; the samples'
  std::vector<Token> tokens;      // </s> at the end if it ended there
  std::vector<double> log_probs;  // of each token, by the model alone: before temperature and cuts
  double log_prob = 0;            // their sum
  double score = 0;               // log_prob / ((5 + |Y|) / 6)^α
  std::string text;
  bool finished = false;       // by </s>, not at the limit
  std::optional<double> bleu;  // 0…100 against the reference, where one is known
  bool operator==(const Reading&) const = default;
};

// What became of an extension that the beam considered.
enum class HypothesisState { kept, pruned, finished };

// One more piece for one hypothesis of a beam.
struct BeamNode {
  int parent = -1;  // index of the node it goes on from; −1: the beginning
  int step = 0;     // from 0
  Token token;
  double log_prob = 0;  // of the token
  double total = 0;     // of the hypothesis with it
  double score = 0;     // total / ((5 + step + 1) / 6)^α
  HypothesisState state = HypothesisState::kept;
  bool operator==(const BeamNode&) const = default;
};

struct Guess {
  Token token;
  float probability = 0;
  bool operator==(const Guess&) const = default;
};

// What a layer would write at one step, if it were the last (the logit lens).
struct LensCell {
  std::vector<Guess> best;  // most probable first
  float chosen = 0;         // probability of what the model wrote
  int rank = 1;             // its rank, 1 the best
};

// One output and where it looked; see Probe::hypothesis.
struct HypothesisInspection {
  std::vector<int> ids;        // as asked, </s> among them
  std::string text;            // what they read as
  std::vector<Token> queries;  // of the maps' rows: what the step wrote; in a language model, what it read
  std::vector<Token> keys;     // what is attended to: the source, or a language model's text
  AttentionMaps maps;          // none where the model has no such attention
};

struct Decodings {
  std::vector<Reading> readings;  // greedy, then the beam's, then the samples
  std::vector<BeamNode> tree;     // step by step; within a step the best total first
  double length_penalty = 0;      // α the tree was scored with
  std::vector<int> ranks;         // 1, 2, 3, 5, … evenly on a logarithmic axis, the last the vocabulary's size
  std::vector<std::vector<float>> ranked;   // [step][i]: probability of the piece of rank ranks[i]
  std::vector<std::vector<LensCell>> lens;  // [layer][step]; none in a recurrent model
  HypothesisInspection hypothesis;
};

// ((5 + length) / 6)^α (1609.08144 §7); `length` counts </s>.
double length_penalty(std::size_t length, double alpha);

// log_prob / length_penalty(length, alpha)
double length_penalised(double log_prob, std::size_t length, double alpha);

// The ids that lead to a node, from the first on.
std::vector<int> path_ids(const std::vector<BeamNode>& tree, int node);

// The nodes along those ids, as far as the tree has them.
std::vector<int> path_nodes(const std::vector<BeamNode>& tree, std::span<const int> ids);

// The node in which the best hypothesis ends: of those that are finished, else of those kept in the last step, the one
// with the best score; −1 in an empty tree.
int best_end(const std::vector<BeamNode>& tree);

// Places of the `tokens` that are not in `others` too, in the same order: all but their longest common subsequence.
std::vector<int> differing(std::span<const Token> tokens, std::span<const Token> others);

}  // namespace attnscope
