// The effect of interventions on one snapshot: the same request with and without them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/snapshot.h"

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
  bool differs = false;  // has no counterpart in the other output
  bool operator==(const ComparedWord&) const = default;
};

struct SnapshotDifference {
  std::vector<ComparedWord> before;  // the unmodified model's output
  std::vector<ComparedWord> after;   // the modified model's output
  bool reference = false;            // Snapshot::gold is a reference, not the unmodified model's output
  std::vector<float> gold_before;    // p of every token of Snapshot::gold in the unmodified model
  double log_prob_before = 0;        // their Σ ln p
  double log_prob_after = 0;
  // of all weights whose queries had equal inputs in both, except those set by an intervention
  std::optional<WeightChange> largest;
};

// Compares a snapshot with its `untouched`, which must not be null.
SnapshotDifference snapshot_difference(const Snapshot& changed);

// Words in the longest common subsequence do not differ.
void compare_words(std::string_view before, std::string_view after, SnapshotDifference& difference);

}  // namespace attnscope
