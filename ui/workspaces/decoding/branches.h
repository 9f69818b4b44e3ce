// Every output that a sentence was steered to, as a tree with merged common prefixes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/shown.h"
#include "messages/snapshot.h"

namespace attnscope {

struct Branch {
  std::vector<Token> tokens;  // of the output, after a prompt
  std::size_t given = 0;      // number of forced leading tokens; 0: the model's own output
  int typing = 0;             // DecodingView::typing if its prefix was typed; 0: it was selected
  std::string text;           // same as Snapshot::output_text
  double log_prob = 0;        // Σ ln p of all tokens
  std::int64_t step = 0;      // training step of the model when it was last seen
  bool operator==(const Branch&) const = default;
};

// The forced tokens.
std::span<const Token> given_tokens(const Branch& branch);

// The layout of a branch: its own row, starting at the first token that it does not share with its parent row.
struct BranchRow {
  int branch = 0;
  int parent = -1;  // an earlier row; −1: none
  int shared = 0;   // number of leading tokens shown in the parent's row
  bool operator==(const BranchRow&) const = default;
};

// The branches of one sentence in one run.
struct Branches {
  std::uint64_t run = 0;
  std::string sentence;
  std::vector<Branch> all;      // in order of discovery
  std::vector<BranchRow> rows;  // of all branches, from top to bottom
  std::vector<float> columns;   // left edge of each token's column, and the right edge of the last; empty: not measured
  float measured_size = 0;      // font size of the measurement
  int current = -1;             // index of the branch that the snapshot shows
  int revealed = -1;            // index of the branch last scrolled to
  std::uint64_t version = 0;    // last Shown::version recorded
};

inline constexpr std::size_t most_branches = 64;

// Adds the output on display, or updates its branch; a new sentence or run clears the tree. `typing` as in Branch: a
// prefix that is being typed is one branch, not one per letter.
void note_branch(Branches& branches, const Shown& shown, int typing);

// Keeps only the current branch.
void clear_branches(Branches& branches);

}  // namespace attnscope
