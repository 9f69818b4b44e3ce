// Shared by the tables of measures.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "lessons/measures.h"

namespace attnscope {

using Arguments = std::span<const std::string>;
using Answer = std::optional<Value>;

inline Answer number(double value) {
  return std::isfinite(value) ? Answer(value) : std::nullopt;
}

// "1" … "count" → 0 … count − 1; nullopt for any other text.
inline std::optional<std::size_t> index_from(const std::string& text, std::size_t count) {
  const auto value = number_from(text);
  if (!value || *value < 1 || *value != std::floor(*value) || *value > static_cast<double>(count)) return {};
  return static_cast<std::size_t>(*value) - 1;
}

// One row per measure, for the chapters in Origins and for recurrent networks.
std::span<const Measure> origins_measures();

}  // namespace attnscope
