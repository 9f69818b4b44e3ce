#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace attnscope {

// What was measured of one optimizer update. Metrics go by their place in the table of plain/metrics.h, which only
// those include who measure one or show it. All in itself: a training of hours keeps hundreds of thousands.
class MetricPoint {
 public:
  static constexpr std::size_t num_metrics = 5;

  std::int64_t step = 0;  // the first update is 1

  // Nothing if it was not measured; NaN if it was and is no finite number that could be kept.
  std::optional<double> operator[](std::size_t metric) const {
    return metric < num_metrics && measured_[metric] ? std::optional(values_[metric]) : std::nullopt;
  }

  void set(std::size_t metric, double value) {
    values_.at(metric) = value;
    measured_[metric] = true;
  }

  bool operator==(const MetricPoint&) const = default;

 private:
  std::array<double, num_metrics> values_{};
  std::bitset<num_metrics> measured_;
};

}  // namespace attnscope
