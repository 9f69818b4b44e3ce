// The runs of a session: A, and B while two runs are compared.
#pragma once

#include <array>
#include <cstddef>

namespace attnscope {

enum class RunSide { a, b };
inline constexpr std::array both_sides = {RunSide::a, RunSide::b};

// One value for each run.
template <typename Value>
struct PerRun {
  std::array<Value, both_sides.size()> values;

  Value& operator[](RunSide side) { return values[static_cast<std::size_t>(side)]; }
  const Value& operator[](RunSide side) const { return values[static_cast<std::size_t>(side)]; }
};

}  // namespace attnscope
