#include "engine/metric_log.h"

#include <bit>

namespace attnscope {
namespace {

static_assert(MetricPoint::capacity <= 8, "one bit per metric");

// Grows geometrically, as std::vector does.
template <typename T>
void make_room_in(std::vector<T>& values, std::size_t more) {
  if (values.capacity() - values.size() < more) values.reserve(2 * values.size() + more);
}

}  // namespace

MetricLog::MetricLog(std::span<const MetricPoint> points) {
  for (const MetricPoint& point : points) append(point);
}

void MetricLog::make_room() {
  make_room_in(measured_, 64);
  make_room_in(values_, MetricPoint::capacity);
  make_room_in(jumps_, 1);
}

MetricPoint& MetricLog::append(const MetricPoint& point) {
  if (newest_) pack_newest();
  return newest_.emplace(point);
}

void MetricLog::pack_newest() {
  make_room();
  if (newest_->step != last_step_ + 1) jumps_.push_back({measured_.size(), newest_->step});
  last_step_ = newest_->step;
  std::uint8_t measured = 0;
  for (std::size_t metric = 0; metric < MetricPoint::capacity; ++metric) {
    const std::optional<double> value = (*newest_)[metric];
    if (!value) continue;
    measured |= static_cast<std::uint8_t>(1U << metric);
    values_.push_back(static_cast<float>(*value));
  }
  measured_.push_back(measured);
}

std::vector<MetricPoint> MetricLog::from(std::size_t first) const {
  std::vector<MetricPoint> points;
  if (first < size()) points.reserve(size() - first);
  auto jump = jumps_.begin();
  auto value = values_.begin();
  std::int64_t step = 0;
  for (std::size_t i = 0; i < measured_.size(); ++i) {
    ++step;
    if (jump != jumps_.end() && jump->point == i) step = (jump++)->step;
    if (i < first) {
      value += std::popcount(measured_[i]);
      continue;
    }
    MetricPoint& point = points.emplace_back();
    point.step = step;
    for (std::size_t metric = 0; metric < MetricPoint::capacity; ++metric) {
      if (measured_[i] & (1U << metric)) point.set(metric, static_cast<double>(*value++));
    }
  }
  if (newest_ && first < size()) points.push_back(*newest_);
  return points;
}

}  // namespace attnscope
