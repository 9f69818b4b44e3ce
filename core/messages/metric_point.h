#pragma once

#include <array>
#include <bitset>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace attnscope {

// The metrics of one optimizer step, as float32, the precision of their inputs. Metrics are indexed by their place in
// the table of messages/metrics.h, which only code that measures or shows a metric includes.
class MetricPoint {
 public:
  static constexpr std::size_t capacity = 8;  // the table may grow to this without a change here

  std::int64_t step = 0;  // the first step is 1

  // Empty if it was not measured; NaN if it was not finite.
  std::optional<double> operator[](std::size_t metric) const {
    return metric < capacity && measured_[metric] ? std::optional<double>(values_[metric]) : std::nullopt;
  }

  void set(std::size_t metric, double value) {
    const auto kept = static_cast<float>(value);
    values_.at(metric) = std::isfinite(kept) ? kept : std::numeric_limits<float>::quiet_NaN();
    measured_[metric] = true;
  }

  bool operator==(const MetricPoint&) const = default;

 private:
  std::array<float, capacity> values_{};
  std::bitset<capacity> measured_;
};

}  // namespace attnscope
