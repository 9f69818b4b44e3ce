#include "plain/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "plain/metrics.h"

namespace attnscope {
namespace {

void drop_from(Series& series, double x) {
  const auto first = std::lower_bound(series.x.begin(), series.x.end(), x);
  const auto kept = static_cast<std::size_t>(first - series.x.begin());
  series.x.resize(kept);
  series.y.resize(kept);
}

void add(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

void add_point(Series& thin, const Series& series, std::size_t index) {
  add(thin, series.x[index], series.y[index]);
}

// The extremes of the finite points in [begin, end), in the order they occur; the first point if none is finite.
void add_extremes(Series& thin, const Series& series, std::size_t begin, std::size_t end) {
  std::size_t lowest = end;
  std::size_t highest = end;
  for (std::size_t i = begin; i < end; ++i) {
    if (!std::isfinite(series.y[i])) continue;
    if (lowest == end || series.y[i] < series.y[lowest]) lowest = i;
    if (highest == end || series.y[i] > series.y[highest]) highest = i;
  }
  if (lowest == end) lowest = highest = begin;
  add_point(thin, series, std::min(lowest, highest));
  if (lowest != highest) add_point(thin, series, std::max(lowest, highest));
}

}  // namespace

Curves::Curves() : series_(metric_rows.size()) {}

void Curves::append(const MetricPoint& point) {
  const auto x = static_cast<double>(point.step);
  for (std::size_t i = 0; i < series_.size(); ++i) {
    drop_from(series_[i], x);
    if (const std::optional<double> value = point[i]) add(series_[i], x, *value);
  }
}

std::vector<double> smoothed(std::span<const double> y, double smoothing) {
  std::vector<double> smooth;
  smooth.reserve(y.size());
  double mean = 0;    // weighted sum of the points so far
  double weight = 0;  // sum of their weights, 1 − smoothing^n: dividing by it corrects the bias
  for (const double value : y) {
    if (std::isfinite(value)) {
      mean = smoothing * mean + (1 - smoothing) * value;
      weight = smoothing * weight + (1 - smoothing);
    }
    smooth.push_back(weight > 0 ? mean / weight : std::numeric_limits<double>::quiet_NaN());
  }
  return smooth;
}

Series thinned(const Series& series, double x_min, double x_max, int columns) {
  const auto index_of = [&](auto place) { return static_cast<std::size_t>(place - series.x.begin()); };
  const std::size_t begin = index_of(std::lower_bound(series.x.begin(), series.x.end(), x_min));
  const std::size_t end = std::max(begin, index_of(std::upper_bound(series.x.begin(), series.x.end(), x_max)));
  const auto limit = static_cast<std::size_t>(std::max(columns, 1));
  Series thin;
  if (begin > 0) add_point(thin, series, begin - 1);
  if (end - begin <= 2 * limit) {
    for (std::size_t i = begin; i < end; ++i) add_point(thin, series, i);
  } else {
    std::size_t from = begin;
    for (std::size_t column = 0; column < limit && from < end; ++column) {
      const double right = x_min + (x_max - x_min) * static_cast<double>(column + 1) / static_cast<double>(limit);
      const auto last = series.x.begin() + static_cast<std::ptrdiff_t>(end);
      const std::size_t to =
          column + 1 == limit
              ? end
              : index_of(std::lower_bound(series.x.begin() + static_cast<std::ptrdiff_t>(from), last, right));
      if (to > from) add_extremes(thin, series, from, to);
      from = to;
    }
  }
  if (end < series.x.size()) add_point(thin, series, end);
  return thin;
}

}  // namespace attnscope
