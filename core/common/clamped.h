#pragma once

#include <algorithm>
#include <type_traits>

namespace attnscope {

// Like std::clamp, but the lower bound holds if the bounds are reversed (a window can be smaller than its minimum
// content); std::clamp is undefined then.
template <typename Number>
constexpr Number clamped(Number value, std::type_identity_t<Number> low, std::type_identity_t<Number> high) {
  return std::max(low, std::min(value, high));
}

}  // namespace attnscope
