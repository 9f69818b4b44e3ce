// Every output that a sentence was steered to, as a tree in which shared beginnings are shared.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/shown.h"
#include "plain/snapshot.h"

namespace attnscope {

struct Branch {
  std::vector<Token> tokens;  // of the output, after a prompt
  std::size_t given = 0;      // leading pieces that were steered; 0: the model's own output
  int typing = 0;             // DecodingView::typing when its beginning was typed; 0: it was chosen
  std::string text;           // as Snapshot::output_text
  double log_prob = 0;        // Σ ln p of all pieces
  std::int64_t step = 0;      // optimizer updates of the model when it was last seen
  bool operator==(const Branch&) const = default;
};

// Those that were steered.
std::span<const Token> given_tokens(const Branch& branch);

// Where a branch is drawn: a row of its own, from the piece on that it does not share with the row it hangs from.
struct BranchRow {
  int branch = 0;
  int parent = -1;  // an earlier row; −1: none
  int shared = 0;   // leading pieces that the parent's row already shows
  bool operator==(const BranchRow&) const = default;
};

// The branches of one sentence in one run.
struct Branches {
  std::uint64_t run = 0;
  std::string sentence;
  std::vector<Branch> all;      // in the order in which they were found
  std::vector<BranchRow> rows;  // of all, from top to bottom
  std::vector<float> columns;   // where each piece's column begins, and where the last one ends; empty: not measured
  float measured_size = 0;      // of the font they were measured in
  int current = -1;             // the one that the snapshot shows
  int revealed = -1;            // the one that was last scrolled to
  std::uint64_t version = 0;    // Shown::version that was noted last
};

inline constexpr std::size_t most_branches = 64;

// Adds the shown output, or brings its branch up to date; another sentence or run begins anew. `typing` as in Branch: a
// beginning that is being typed is one branch, not one a letter.
void note_branch(Branches& branches, const Shown& shown, int typing);

// Leaves only the current one.
void clear_branches(Branches& branches);

}  // namespace attnscope
