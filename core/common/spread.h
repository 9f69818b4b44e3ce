// A representative subset of many items.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
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

// 0 … count − 1 in an order whose every beginning is spread evenly: by the fractional parts of multiples of the golden
// ratio.
inline std::vector<std::size_t> spread_order(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [](std::size_t i) {
    const double multiple = static_cast<double>(i) * 0.6180339887498949;
    return multiple - std::floor(multiple);
  });
  return order;
}

}  // namespace attnscope
