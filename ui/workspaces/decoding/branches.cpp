#include "workspaces/decoding/branches.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

double log_probability(const DecodingStep& step) {
  return std::log(static_cast<double>(step.candidates[static_cast<std::size_t>(step.chosen)].probability));
}

Branch branch_of(const Snapshot& snapshot) {
  const int first = snapshot.first_output();
  Branch branch;
  branch.tokens.assign(snapshot.target_out.begin() + first, snapshot.target_out.end());
  branch.given = snapshot.prefix;
  branch.text = snapshot.output_text;
  branch.step = snapshot.step;
  for (std::size_t i = static_cast<std::size_t>(first); i < snapshot.decoding.size(); ++i)
    branch.log_prob += log_probability(snapshot.decoding[i]);
  return branch;
}

int shared_tokens(const Branch& a, const Branch& b) {
  const auto ends = std::ranges::mismatch(a.tokens, b.tokens, {}, &Token::id, &Token::id);
  return static_cast<int>(ends.in1 - a.tokens.begin());
}

// Finds the branch that the output updates: same prefix, same text, or a prefix being typed.
int place_of(const std::vector<Branch>& all, const Branch& found) {
  const auto is_same = [&](const Branch& branch) {
    const bool typed = found.typing != 0 && branch.typing == found.typing;
    return typed || branch.tokens == found.tokens || std::ranges::equal(given_tokens(branch), given_tokens(found));
  };
  const auto same = std::ranges::find_if(all, is_same);
  return same == all.end() ? -1 : static_cast<int>(same - all.begin());
}

// Places each branch below the one with the longest common prefix, after earlier branches with the same length of
// prefix.
std::vector<BranchRow> arranged(const std::vector<Branch>& all) {
  std::vector<BranchRow> rows;
  const auto shared_with = [&](const BranchRow& row, int branch) {
    return shared_tokens(all[static_cast<std::size_t>(row.branch)], all[static_cast<std::size_t>(branch)]);
  };
  for (int i = 0; i < static_cast<int>(all.size()); ++i) {
    int most = 0;
    for (const BranchRow& row : rows) most = std::max(most, shared_with(row, i));
    const auto last = std::ranges::find_if(rows.rbegin(), rows.rend(),
                                           [&](const BranchRow& row) { return shared_with(row, i) == most; });
    rows.insert(last.base(), {i});
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    for (std::size_t above = 0; above < i; ++above) {
      const int shared = shared_with(rows[above], rows[i].branch);
      if (shared > rows[i].shared) rows[i] = {rows[i].branch, static_cast<int>(above), shared};
    }
  }
  return rows;
}

void arrange(Branches& branches) {
  branches.rows = arranged(branches.all);
  branches.columns.clear();
}

}  // namespace

std::span<const Token> given_tokens(const Branch& branch) {
  return std::span(branch.tokens).first(std::min(branch.given, branch.tokens.size()));
}

void note_branch(Branches& branches, const Shown& shown, int typing) {
  const Snapshot& snapshot = *shown.snapshot;
  if (branches.version == shown.version || is_recorded(snapshot) || snapshot.recorded_weights) return;
  if (branches.run != snapshot.run || branches.sentence != snapshot.source_text) {
    branches = {};
    branches.run = snapshot.run;
    branches.sentence = snapshot.source_text;
  }
  branches.version = shown.version;
  Branch found = branch_of(snapshot);
  found.typing = found.given == 0 ? 0 : typing;
  branches.current = place_of(branches.all, found);
  if (branches.current < 0) {
    // the first branch is the unforced output
    if (branches.all.size() == most_branches) branches.all.erase(branches.all.begin() + 1);
    branches.current = static_cast<int>(branches.all.size());
    branches.all.push_back(std::move(found));
  } else {
    Branch& known = branches.all[static_cast<std::size_t>(branches.current)];
    if (known.tokens == found.tokens) found.given = std::min(known.given, found.given);
    found.typing = known.typing;
    known = std::move(found);
  }
  arrange(branches);
}

void clear_branches(Branches& branches) {
  if (branches.current < 0) return;
  branches.all = {branches.all[static_cast<std::size_t>(branches.current)]};
  branches.current = branches.revealed = 0;
  arrange(branches);
}

}  // namespace attnscope
