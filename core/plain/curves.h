// The measured series of a run, as the curve panel draws them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "plain/metric_point.h"
#include "plain/series.h"

namespace attnscope {

// A metric over the updates: as measured, until there are more than `most_points`. Of a longer run then what draws the
// same picture: of each `stride` updates in a row the lowest and the highest value, and the mean. So neither memory nor
// the time of a frame grows with the run.
class Curve {
 public:
  static constexpr std::size_t most_points = std::size_t{1} << 14;

  // A point at or before the last step replaces what stood from there on (a run resumed from a checkpoint).
  void append(std::int64_t step, double value);
  void drop_from(std::int64_t step);

  const Series& points() const { return points_; }
  std::int64_t stride() const { return stride_; }

  // Of what is finite of each `stride` updates in a row, at the last of them; the points where the stride is 1.
  const Series& means() const { return stride_ == 1 ? points_ : means_; }
  // The same of a longer stride, a multiple of this one's.
  Series means(std::int64_t stride) const;

 private:
  struct Grouped {
    Series means;
    std::vector<double> counts;  // of finite values in each
  };

  void add_to_means(double step, double value);
  void close_group();
  void coarsen();
  Grouped grouped(std::int64_t stride) const;

  Series points_;
  // While the stride is above 1:
  Series means_;
  std::vector<double> counts_;
  std::int64_t stride_ = 1;
  std::size_t group_begin_ = 0;  // in points_: from here on all of the group that is being filled
};

// a − b where both have a point; of two strides, at the longer one.
Series difference(const Curve& a, const Curve& b);

// A curve a metric, in the order of plain/metrics.h.
class Curves {
 public:
  Curves();
  const Curve& operator[](std::size_t metric) const { return curves_[metric]; }

  // A point at or before the last step replaces what stood from there on.
  void append(const MetricPoint& point);

 private:
  std::vector<Curve> curves_;
};

// Exponential moving average of y with weight `smoothing` (0…<1) on the past for each step that x goes on,
// bias-corrected as in Adam so that the beginning is not drawn towards zero. Points that are not finite are passed
// over.
std::vector<double> smoothed(const Series& series, double smoothing);

// At most 2 × `columns` points of y over [x_min, x_max] that draw the same picture: each column's minimum and maximum,
// in the order they occur, plus one point either side of the window.
Series thinned(const Series& series, double x_min, double x_max, int columns);

}  // namespace attnscope
