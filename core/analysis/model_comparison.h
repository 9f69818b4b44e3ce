// Compares the snapshots of two models, A and B, of one sentence: attention, outputs and positions, and their
// differences. If something cannot be compared, a sentence says why.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/snapshot_difference.h"
#include "messages/snapshot.h"

namespace attnscope {

// Explains in one sentence why `side` ("A") has no such map; empty: it has one.
std::string why_no_map(const Snapshot& snapshot, std::string_view side, const HeadPlace& place);

// One head's map in both models.
struct ComparedMaps {
  std::string why_not;  // empty: they can be compared
  std::vector<Token> queries;
  std::vector<Token> keys;
  Matrix a, b;        // queries × keys; of generated tokens only the leading rows with equal inputs in both
  Matrix difference;  // a − b
  float apart = 0;    // total_variation(a, b)
  int left_out = 0;   // rows of A whose inputs differ from B's
};
ComparedMaps compare_maps(const Snapshot& a, const Snapshot& b, const HeadPlace& place);

// The distance of two maps of one shape: the mean over rows of ½ Σ |a − b|, the share of a query's weight on other
// keys. 0: equal; 1: disjoint keys.
float total_variation(const Matrix& a, const Matrix& b);

// Every head that both models have, with its distance; empty if its maps cannot be compared.
struct HeadApart {
  HeadPlace place;
  std::optional<float> apart;
};
std::vector<HeadApart> heads_apart(const Snapshot& a, const Snapshot& b);

// One side's choice at the first divergence of the outputs.
struct DivergingToken {
  Token token;
  float probability = 0;          // in the model that generated it
  std::optional<float> in_other;  // in the other model; none: not among its candidates
};

struct ComparedOutputs {
  std::string why_not;
  SnapshotDifference words;               // `before` is A's output, `after` is B's
  int shared = 0;                         // leading tokens that both outputs share
  std::optional<DivergingToken> a, b;     // the first divergence; none: one output ends there, or they are equal
  double log_prob_a = 0, log_prob_b = 0;  // Σ ln p of each output
  bool same() const;
};
ComparedOutputs compare_outputs(const Snapshot& a, const Snapshot& b);

// A position table that both models have.
struct ComparedPositions {
  std::string why_not;
  std::string name;
  int first = 0;
  Matrix a, b, difference;
};
std::vector<ComparedPositions> compare_positions(const Snapshot& a, const Snapshot& b);

// The neighbors of one token in both models.
struct ComparedNeighbour {
  std::string token;
  float cosine = 0;
  bool shared = false;  // it is among the other model's nearest, too
};
struct ComparedNeighbours {
  std::string why_not;
  std::string chosen;
  std::vector<ComparedNeighbour> a, b;
  int shared = 0;
};
ComparedNeighbours compare_neighbours(const Snapshot& a, const Snapshot& b);

}  // namespace attnscope
