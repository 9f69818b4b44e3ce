// The measured series of a run, as the curve panel draws them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "plain/metric_point.h"
#include "plain/series.h"

namespace attnscope {

// A series a metric, in the order of plain/metrics.h.
class Curves {
 public:
  Curves();
  const Series& operator[](std::size_t metric) const { return series_[metric]; }

  // A point at or before the last step replaces what stood from there on (a run resumed from a checkpoint).
  void append(const MetricPoint& point);

 private:
  std::vector<Series> series_;
};

// Exponential moving average with weight `smoothing` (0…<1) on the past, bias-corrected as in Adam so that the
// beginning is not drawn towards zero. Points that are not finite are passed over.
std::vector<double> smoothed(std::span<const double> y, double smoothing);

// At most 2 × `columns` points of y over [x_min, x_max] that draw the same picture: each column's minimum and maximum,
// in the order they occur, plus one point either side of the window.
Series thinned(const Series& series, double x_min, double x_max, int columns);

}  // namespace attnscope
