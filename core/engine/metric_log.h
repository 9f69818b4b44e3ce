// All that was measured of a run, in less than half of the memory that the points take: a training of hours makes
// hundreds of thousands, and all are kept until the run is let go of, wherever it may be saved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "plain/metric_point.h"

namespace attnscope {

class MetricLog {
 public:
  MetricLog() = default;
  explicit MetricLog(std::span<const MetricPoint> points);

  // So that the next point can be appended however little memory there is then.
  void make_room();
  // A reference to the newest point, of which more may be measured until the next one.
  MetricPoint& append(const MetricPoint& point);

  std::size_t size() const { return measured_.size() + (newest_ ? 1 : 0); }
  // All but the first `first`.
  std::vector<MetricPoint> from(std::size_t first = 0) const;

 private:
  struct Jump {
    std::size_t point;
    std::int64_t step;
  };

  void pack_newest();

  // Of all but the newest: which metrics were measured, the values of those, one point's after the other's, and the
  // step of each point that is not one beyond the point before it.
  std::vector<std::uint8_t> measured_;
  std::vector<float> values_;
  std::vector<Jump> jumps_;
  std::int64_t last_step_ = 0;
  std::optional<MetricPoint> newest_;
};

}  // namespace attnscope
