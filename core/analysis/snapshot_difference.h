// What changing the model did to one look: the same question with and without the changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plain/snapshot.h"

namespace attnscope {

struct WeightChange {
  HeadPlace place;
  int query = 0;
  int key = 0;
  float before = 0;
  float after = 0;
};

struct ComparedWord {
  std::string word;
  bool differs = false;  // has no counterpart on the other side
  bool operator==(const ComparedWord&) const = default;
};

struct SnapshotDifference {
  std::vector<ComparedWord> before;  // the output of the untouched model
  std::vector<ComparedWord> after;   // of the changed one
  bool reference = false;            // Snapshot::gold is a reference, not what the untouched model writes
  std::vector<float> gold_before;    // p of every piece of Snapshot::gold in the untouched model
  double log_prob_before = 0;        // Σ ln p of them
  double log_prob_after = 0;
  std::optional<WeightChange> largest;  // of all weights whose queries saw the same in both, beside what was set itself
};

// The changed look, whose `untouched` is there.
SnapshotDifference snapshot_difference(const Snapshot& changed);

// Words that stand in both in the same order (a longest common subsequence) do not differ.
void compare_words(std::string_view before, std::string_view after, SnapshotDifference& difference);

}  // namespace attnscope
