// Two configurations: their differences, and names for the runs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace attnscope {

struct FieldDifference {
  std::string_view key;    // "model.positions"
  std::string_view label;  // "positions"
  std::string a;           // in the form that set_field reads
  std::string b;
  bool operator==(const FieldDifference&) const = default;
};

// Returns the fields used by both whose values differ, in the order of the table.
std::vector<FieldDifference> differences(const Config& a, const Config& b);

// "positions: rope · alibi"; "no difference" if there is none. With more than two fields: the first two and the number
// of others.
std::string title_of(const std::vector<FieldDifference>& differences);

// The name of one of the two: "rope", "warm-up 0"; empty if there is no difference.
std::string name_of_a(const std::vector<FieldDifference>& differences);
std::string name_of_b(const std::vector<FieldDifference>& differences);

// Explains in one sentence why two runs of these configurations see different batches; empty: same batches in the same
// order. The runs must also start at the same step.
std::string other_batches(const Config& a, const Config& b);

// Returns `other` with every field changed that differs between `before` and `after` and was equal in `other` and
// `before`. The compared fields stay different, all others stay equal.
Config moved_along(const Config& other, const Config& before, const Config& after);

}  // namespace attnscope
