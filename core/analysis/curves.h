// The metric curves of a run, as drawn by the curve panel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/series.h"
#include "messages/metric_point.h"

namespace attnscope {

// A metric over the optimizer steps, stored as measured up to `most_points`. A longer run stores a reduction that draws
// the same picture: minimum, maximum and mean of each `stride` consecutive steps. Memory and frame time therefore stay
// bounded.
class Curve {
 public:
  static constexpr std::size_t most_points = std::size_t{1} << 14;

  // A point at or before the last step replaces all points from there on (a run resumed from a checkpoint).
  void append(std::int64_t step, double value);
  void drop_from(std::int64_t step);

  const Series& points() const { return points_; }
  std::int64_t stride() const { return stride_; }

  // The means of the finite values of each `stride` consecutive steps, at the last of them; the points if the stride is
  // 1.
  const Series& means() const { return stride_ == 1 ? points_ : means_; }
  // The means for a longer stride, a multiple of this curve's.
  Series means(std::int64_t stride) const;

 private:
  struct Grouped {
    Series means;
    std::vector<double> counts;  // finite values per group
  };

  void add_to_means(double step, double value);
  void close_group();
  void coarsen();
  Grouped grouped(std::int64_t stride) const;

  Series points_;
  // Used while the stride is above 1:
  Series means_;
  std::vector<double> counts_;
  std::int64_t stride_ = 1;
  std::size_t group_begin_ = 0;  // index in points_: the group being filled starts here
};

// Returns a − b where both have a point; of two strides, at the longer one.
Series difference(const Curve& a, const Curve& b);

// One curve per metric, in the order of messages/metrics.h.
class Curves {
 public:
  Curves();
  const Curve& operator[](std::size_t metric) const { return curves_[metric]; }

  // A point at or before the last step replaces all points from there on.
  void append(const MetricPoint& point);

 private:
  std::vector<Curve> curves_;
};

// Exponential moving average of y. The past has weight `smoothing` (0…<1) per unit of x, bias-corrected as in Adam so
// that the start is not drawn towards zero. Skips non-finite points.
std::vector<double> smoothed(const Series& series, double smoothing);

// Returns at most 2 × `columns` points of y over [x_min, x_max] that draw the same picture: the minimum and maximum of
// each column in order, plus one point on either side of the window.
Series thinned(const Series& series, double x_min, double x_max, int columns);

}  // namespace attnscope
