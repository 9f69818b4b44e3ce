// All metrics of a run, in less than half of the memory of the points: a training of hours has hundreds of thousands,
// and all stay in memory until the run is closed, even if it is saved elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "messages/metric_point.h"

namespace attnscope {

class MetricLog {
 public:
  MetricLog() = default;
  explicit MetricLog(std::span<const MetricPoint> points);

  // Reserves memory so that the next point can be appended even if memory runs out.
  void make_room();
  // A reference to the newest point, to which metrics may be added until the next one.
  MetricPoint& append(const MetricPoint& point);

  std::size_t size() const { return measured_.size() + (newest_ ? 1 : 0); }
  // All points after the first `first`.
  std::vector<MetricPoint> from(std::size_t first = 0) const;

 private:
  struct Jump {
    std::size_t point;
    std::int64_t step;
  };

  void pack_newest();

  // For all points but the newest: which metrics were measured, their values point by point, and the step of each point
  // whose step is not the previous one plus 1.
  std::vector<std::uint8_t> measured_;
  std::vector<float> values_;
  std::vector<Jump> jumps_;
  std::int64_t last_step_ = 0;
  std::optional<MetricPoint> newest_;
};

}  // namespace attnscope
