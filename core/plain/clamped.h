#pragma once

#include <algorithm>
#include <type_traits>

namespace attnscope {

// As std::clamp, but where the bounds leave no room the lower one holds (a window can be smaller than what must stand
// in it): std::clamp promises nothing then.
template <typename Number>
constexpr Number clamped(Number value, std::type_identity_t<Number> low, std::type_identity_t<Number> high) {
  return std::max(low, std::min(value, high));
}

}  // namespace attnscope
