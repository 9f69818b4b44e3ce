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
  static constexpr std::size_t num_metrics = 5;

  std::int64_t step = 0;  // the first step is 1

  // Empty if it was not measured; NaN if it was not finite.
  std::optional<double> operator[](std::size_t metric) const {
    return metric < num_metrics && measured_[metric] ? std::optional<double>(values_[metric]) : std::nullopt;
  }

  void set(std::size_t metric, double value) {
    const auto kept = static_cast<float>(value);
    values_.at(metric) = std::isfinite(kept) ? kept : std::numeric_limits<float>::quiet_NaN();
    measured_[metric] = true;
  }

  bool operator==(const MetricPoint&) const = default;

 private:
  std::array<float, num_metrics> values_{};
  std::bitset<num_metrics> measured_;
};

}  // namespace attnscope
