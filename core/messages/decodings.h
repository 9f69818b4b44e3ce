// The possible outputs for one sentence: greedy, beam and samples, the beam's search tree, and the logit lens of each
// layer.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/matrix.h"
#include "messages/sublayers.h"
#include "messages/token.h"

namespace attnscope {

enum class Method { greedy, beam, sample };

// One output with its score.
struct Reading {
  Method method = Method::greedy;
  int number = 1;                 // of several: beam hypotheses, best first; or samples
  std::vector<Token> tokens;      // </s> at the end if it ended there
  std::vector<double> log_probs;  // of each token under the model: before temperature and truncation
  double log_prob = 0;            // their sum
  double score = 0;               // log_prob / ((5 + |Y|) / 6)^α
  std::string text;
  bool finished = false;       // by </s>, not at the length limit
  std::optional<double> bleu;  // 0…100 against the reference, if known
  bool operator==(const Reading&) const = default;
};

// The outcome of an extension that the beam considered.
enum class HypothesisState { kept, pruned, finished };

// One more token for one hypothesis of a beam.
struct BeamNode {
  int parent = -1;  // index of the node it extends; −1: the start
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

// The prediction at one step if the residual stream ended there (logit lens).
struct LensCell {
  std::vector<Guess> best;  // most probable first
  float chosen = 0;         // probability of the model's output token
  int rank = 1;             // rank of that token, 1 the best
};

// The residual stream after a layer, or after a sublayer within it, at every step.
struct LensRow {
  int layer = 0;
  std::optional<Sublayer> within;  // nullopt: after the whole layer
  std::vector<LensCell> cells;
};

// Fits the tuned lens: an affine map per row translates the residual stream before the logit lens reads it (Belrose et
// al. 2023, arXiv 2303.08112).
struct TunedLensQuestion {};

struct TunedLensResult {
  std::string problem = {};  // why there is none, in one sentence
  // KL(output ‖ lens) over the validation part, in nats per token, of every row of Decodings::lens.
  std::vector<double> logit_kl = {}, tuned_kl = {};
};

// One output and its attention maps; see Probe::hypothesis.
struct HypothesisInspection {
  std::vector<int> ids;        // as requested, including </s>
  std::string text;            // the decoded text
  std::vector<Token> queries;  // rows of the maps: each step's output token; in a language model, its input token
  std::vector<Token> keys;     // attended tokens: the source, or a language model's text
  AttentionMaps maps;          // empty if the model has no such attention
};

struct Decodings {
  std::vector<Reading> readings;  // greedy, then the beam's, then the samples
  std::vector<BeamNode> tree;     // by step; within a step the best total first
  double length_penalty = 0;      // α used to score the tree
  std::vector<int> ranks;         // 1, 2, 3, 5, … evenly on a logarithmic axis, the last is the vocabulary size
  std::vector<std::vector<float>> ranked;   // [step][i]: probability of the token of rank ranks[i]
  bool lens_is_tuned = false;
  std::vector<LensRow> lens;                // in the order of the forward pass; empty for a recurrent model
  HypothesisInspection hypothesis;
};

// ((5 + length) / 6)^α (1609.08144 §7); `length` counts </s>.
double length_penalty(std::size_t length, double alpha);

// log_prob / length_penalty(length, alpha)
double length_penalised(double log_prob, std::size_t length, double alpha);

// The token ids on the path to a node, from the first.
std::vector<int> path_ids(const std::vector<BeamNode>& tree, int node);

// The nodes along those ids, as far as the tree has them.
std::vector<int> path_nodes(const std::vector<BeamNode>& tree, std::span<const int> ids);

// Returns the last node of the best hypothesis: the best score among the finished ones, else among those retained in
// the last step; −1 for an empty tree.
int best_end(const std::vector<BeamNode>& tree);

// Returns the positions of the `tokens` outside the longest common subsequence with `others`.
std::vector<int> differing(std::span<const Token> tokens, std::span<const Token> others);

}  // namespace attnscope
