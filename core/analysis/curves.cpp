#include "analysis/curves.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "messages/metrics.h"

namespace attnscope {
namespace {

void add(Series& series, double x, double y) {
  series.x.push_back(x);
  series.y.push_back(y);
}

void add_point(Series& thin, const Series& series, std::size_t index) {
  add(thin, series.x[index], series.y[index]);
}

// Adds the extremes of the finite points in [begin, end), in order; the first point if none is finite.
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

void cut(Series& series, std::size_t size) {
  series.x.resize(size);
  series.y.resize(size);
}

// Steps are counted from 1.
std::int64_t group_of(double step, std::int64_t stride) {
  return (static_cast<std::int64_t>(step) - 1) / stride;
}

// One past the last point of the group that starts at `begin`.
std::size_t group_end(const Series& series, std::size_t begin, std::int64_t stride) {
  std::size_t end = begin;
  while (end < series.x.size() && group_of(series.x[end], stride) == group_of(series.x[begin], stride)) ++end;
  return end;
}

}  // namespace

void Curve::append(std::int64_t step, double value) {
  drop_from(step);
  const auto x = static_cast<double>(step);
  if (!points_.x.empty() && group_of(points_.x.back(), stride_) != group_of(x, stride_)) close_group();
  add(points_, x, value);
  if (stride_ > 1) add_to_means(x, value);
}

void Curve::drop_from(std::int64_t step) {
  const auto x = static_cast<double>(step);
  if (points_.x.empty() || points_.x.back() < x) return;
  cut(points_, static_cast<std::size_t>(std::ranges::lower_bound(points_.x, x) - points_.x.begin()));
  group_begin_ = points_.x.size();
  while (group_begin_ > 0 && group_of(points_.x[group_begin_ - 1], stride_) == group_of(x, stride_)) --group_begin_;
  while (!means_.x.empty() && group_of(means_.x.back(), stride_) >= group_of(x, stride_)) {
    cut(means_, means_.x.size() - 1);
    counts_.pop_back();
  }
  // The mean of a group that is cut in two is the mean of its retained points.
  for (std::size_t i = group_begin_; i < points_.x.size() && stride_ > 1; ++i) add_to_means(points_.x[i], points_.y[i]);
}

void Curve::add_to_means(double step, double value) {
  const bool same = !means_.x.empty() && group_of(means_.x.back(), stride_) == group_of(step, stride_);
  if (!same) {
    add(means_, step, std::numeric_limits<double>::quiet_NaN());
    counts_.push_back(0);
  }
  means_.x.back() = step;
  if (!std::isfinite(value)) return;
  double& mean = means_.y.back();
  const double count = ++counts_.back();
  mean = count == 1 ? value : mean + (value - mean) / count;
}

void Curve::close_group() {
  Series extremes;
  if (group_begin_ < points_.x.size()) add_extremes(extremes, points_, group_begin_, points_.x.size());
  cut(points_, group_begin_);
  points_.x.insert(points_.x.end(), extremes.x.begin(), extremes.x.end());
  points_.y.insert(points_.y.end(), extremes.y.begin(), extremes.y.end());
  group_begin_ = points_.x.size();
  if (points_.x.size() >= most_points) coarsen();
}

// Reduces to at most half of the points, so that it is seldom needed.
void Curve::coarsen() {
  while (points_.x.size() > most_points / 2) {
    const std::int64_t stride = stride_ * 2;
    Grouped means = grouped(stride);
    means_ = std::move(means.means);
    counts_ = std::move(means.counts);
    Series points;
    for (std::size_t begin = 0; begin < points_.x.size();) {
      group_begin_ = points.x.size();
      const std::size_t end = group_end(points_, begin, stride);
      add_extremes(points, points_, begin, end);
      begin = end;
    }
    points_ = std::move(points);
    stride_ = stride;
  }
}

Curve::Grouped Curve::grouped(std::int64_t stride) const {
  Grouped of;
  const Series& finer = means();
  for (std::size_t begin = 0; begin < finer.x.size();) {
    const std::size_t end = group_end(finer, begin, stride);
    double sum = 0, count = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!std::isfinite(finer.y[i])) continue;
      const double values = stride_ == 1 ? 1 : counts_[i];
      sum += values * finer.y[i];
      count += values;
    }
    add(of.means, finer.x[end - 1], count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN());
    of.counts.push_back(count);
    begin = end;
  }
  return of;
}

Series Curve::means(std::int64_t stride) const {
  return stride == stride_ ? means() : grouped(stride).means;
}

Series difference(const Curve& a, const Curve& b) {
  const std::int64_t stride = std::max(a.stride(), b.stride());
  const Series of_a = a.means(stride), of_b = b.means(stride);
  Series apart;
  std::size_t other = 0;
  for (std::size_t i = 0; i < of_a.x.size(); ++i) {
    while (other < of_b.x.size() && of_b.x[other] < of_a.x[i]) ++other;
    if (other == of_b.x.size()) break;
    if (of_b.x[other] == of_a.x[i]) add(apart, of_a.x[i], of_a.y[i] - of_b.y[other]);
  }
  return apart;
}

Curves::Curves() : curves_(metric_rows.size()) {}

void Curves::append(const MetricPoint& point) {
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    if (const std::optional<double> value = point[i])
      curves_[i].append(point.step, *value);
    else
      curves_[i].drop_from(point.step);
  }
}

std::vector<double> smoothed(const Series& series, double smoothing) {
  std::vector<double> smooth;
  smooth.reserve(series.y.size());
  double mean = 0;          // weighted sum of the points so far
  double weight = 0;        // sum of their weights: dividing by it corrects the bias
  double further = 1;       // distance from the previous point; the first is assumed to be as far as the second
  double past = smoothing;  // smoothing^further
  for (std::size_t i = 0; i < series.y.size(); ++i) {
    const std::size_t from = i == 0 ? 0 : i - 1;
    const double apart = from + 1 < series.x.size() ? series.x[from + 1] - series.x[from] : 1;
    if (apart != further) past = std::pow(smoothing, further = apart);
    mean *= past;
    weight *= past;
    if (std::isfinite(series.y[i])) {
      mean += (1 - past) * series.y[i];
      weight += 1 - past;
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
