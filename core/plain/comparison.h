// Two configurations side by side: what they differ in, and what a run is called for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plain/config.h"

namespace attnscope {

struct FieldDifference {
  std::string_view key;    // "model.positions"
  std::string_view label;  // "positions"
  std::string a;           // as set_field would read it
  std::string b;
  bool operator==(const FieldDifference&) const = default;
};

// The fields that both make use of and whose values differ, in the order of the table.
std::vector<FieldDifference> differences(const Config& a, const Config& b);

// "positions: rope · alibi"; "no difference" where there is none; of more than two fields the first two and how many
// follow.
std::string title_of(const std::vector<FieldDifference>& differences);

// What one of the two is called for it: "rope", "warm-up 0"; empty where there is no difference.
std::string name_of_a(const std::vector<FieldDifference>& differences);
std::string name_of_b(const std::vector<FieldDifference>& differences);

// Why two runs of these configurations are not trained on the same batches in the same order, in one sentence; empty:
// they are. Runs must begin at the same step for it, too.
std::string other_batches(const Config& a, const Config& b);

// `other` with every field changed that went from `before` to `after` and in which it was like `before`: what is
// compared stays different, all else stays alike.
Config moved_along(const Config& other, const Config& before, const Config& after);

}  // namespace attnscope
