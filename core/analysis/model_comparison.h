// Two models' looks at one sentence, A's and B's: what their attention, outputs and positions have that can be held
// against each other, and what each differs by. What cannot be compared says why, in one sentence.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/snapshot_difference.h"
#include "plain/snapshot.h"

namespace attnscope {

// In one sentence why `side` ("A") has no such map; empty: it has.
std::string why_no_map(const Snapshot& snapshot, std::string_view side, const HeadPlace& place);

// One head's map in both.
struct ComparedMaps {
  std::string why_not;  // empty: they can be compared
  std::vector<Token> queries;
  std::vector<Token> keys;
  Matrix a, b;        // queries × keys. Of what was written the leading rows alone that saw the same in both
  Matrix difference;  // a − b
  float apart = 0;    // total_variation(a, b)
  int left_out = 0;   // rows of A's that saw something else than B's
};
ComparedMaps compare_maps(const Snapshot& a, const Snapshot& b, const HeadPlace& place);

// How far two maps of one shape are apart: the mean over the rows of ½ Σ |a − b|, the share of its weight that a query
// gives to other keys. 0: they are alike; 1: they have no key in common.
float total_variation(const Matrix& a, const Matrix& b);

// Every head that both models have, with how far apart it is; none where its maps cannot be compared.
struct HeadApart {
  HeadPlace place;
  std::optional<float> apart;
};
std::vector<HeadApart> heads_apart(const Snapshot& a, const Snapshot& b);

// One side's choice at the place where the outputs part.
struct PartedPiece {
  Token token;
  float probability = 0;          // in the model that wrote it
  std::optional<float> in_other;  // in the other one; none: not among its candidates
};

struct ComparedOutputs {
  std::string why_not;
  SnapshotDifference words;               // `before` is A's output, `after` is B's
  int shared = 0;                         // leading pieces that both wrote
  std::optional<PartedPiece> a, b;        // the first that differ; none: one ends there, or they are the same
  double log_prob_a = 0, log_prob_b = 0;  // Σ ln p of what each wrote
  bool same() const;
};
ComparedOutputs compare_outputs(const Snapshot& a, const Snapshot& b);

// A table of positions that both have.
struct ComparedPositions {
  std::string why_not;
  std::string name;
  int first = 0;
  Matrix a, b, difference;
};
std::vector<ComparedPositions> compare_positions(const Snapshot& a, const Snapshot& b);

// The neighbours of one piece in both.
struct ComparedNeighbour {
  std::string token;
  float cosine = 0;
  bool shared = false;  // the other model has it among its nearest too
};
struct ComparedNeighbours {
  std::string why_not;
  std::string chosen;
  std::vector<ComparedNeighbour> a, b;
  int shared = 0;
};
ComparedNeighbours compare_neighbours(const Snapshot& a, const Snapshot& b);

}  // namespace attnscope
