#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace attnscope {

// What was measured of one optimizer update. Metrics go by their place in the table of plain/metrics.h, which only
// those include who measure one or show it.
class MetricPoint {
 public:
  std::int64_t step = 0;  // the first update is 1

  // Nothing if it was not measured; NaN if it was and is no finite number that could be kept.
  std::optional<double> operator[](std::size_t metric) const {
    return metric < values_.size() ? values_[metric] : std::nullopt;
  }

  void set(std::size_t metric, double value) {
    if (metric >= values_.size()) values_.resize(metric + 1);
    values_[metric] = value;
  }

  bool operator==(const MetricPoint&) const = default;

 private:
  std::vector<std::optional<double>> values_;  // none after the last that was measured
};

}  // namespace attnscope
