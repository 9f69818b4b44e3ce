// A representative subset of many items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace attnscope {

// Returns at most `most` items, evenly spread and deterministic. Files are often sorted, by length or otherwise, so
// their beginning would be biased.
template <typename Items>
auto spread_evenly(const Items& items, std::size_t most) {
  const std::size_t count = std::min(most, items.size());
  std::vector<std::decay_t<decltype(items[0])>> kept;
  kept.reserve(count);
  for (std::size_t i = 0; i < count; ++i) kept.push_back(items[i * items.size() / count]);
  return kept;
}

}  // namespace attnscope
