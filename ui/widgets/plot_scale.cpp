// Arithmetic of plots without drawing: ticks, zooming, fitting.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "common/clamped.h"
#include "widgets/plot.h"

namespace attnscope {
namespace {

constexpr double smallest_positive = 1e-300;

bool drawable(double y, bool log) {
  return std::isfinite(y) && (!log || y > 0);
}

double to_axis(double value, bool log) {
  return log ? std::log10(std::max(value, smallest_positive)) : value;
}

double from_axis(double value, bool log) {
  return log ? std::pow(10.0, value) : value;
}

// All multiples of a power of ten by the given factors (1, 2, 5) in the range.
std::vector<double> decade_ticks(PlotRange range, std::initializer_list<double> factors) {
  std::vector<double> ticks;
  const int first = static_cast<int>(std::floor(std::log10(range.low)));
  const int last = static_cast<int>(std::ceil(std::log10(range.high)));
  for (int decade = first; decade <= last; ++decade)
    for (const double factor : factors) {
      const double tick = factor * std::pow(10.0, decade);
      if (tick >= range.low * (1 - 1e-9) && tick <= range.high * (1 + 1e-9)) ticks.push_back(tick);
    }
  return ticks;
}

}  // namespace

std::vector<double> linear_ticks(PlotRange range, int count) {
  std::vector<double> ticks;
  if (!(range.width() > 0) || !std::isfinite(range.width()) || count < 1) return ticks;
  const double rough = range.width() / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double share = rough / power;  // 1…10
  const double step = power * (share < 1.5 ? 1 : share < 3.5 ? 2 : share < 7.5 ? 5 : 10);
  const double first = std::ceil(range.low / step - 1e-9);
  const double last = std::floor(range.high / step + 1e-9);
  constexpr double largest_exact = 9007199254740992.0;  // 2^53: beyond it i + 1 may equal i
  if (std::max(std::abs(first), std::abs(last)) >= largest_exact) return ticks;
  for (double i = first; i <= last; ++i) ticks.push_back(i * step == 0 ? 0 : i * step);
  return ticks;
}

std::vector<double> log_ticks(PlotRange range) {
  if (!(range.low > 0) || !(range.high > range.low)) return {};
  std::vector<double> ticks = decade_ticks(range, {1});
  if (ticks.size() > 8) {  // too many to read: every second, third, … decade
    const std::size_t every = (ticks.size() + 7) / 8;
    std::vector<double> fewer;
    for (std::size_t i = 0; i < ticks.size(); i += every) fewer.push_back(ticks[i]);
    return fewer;
  }
  if (ticks.size() >= 2) return ticks;
  ticks = decade_ticks(range, {1, 2, 5});
  return ticks.size() >= 2 ? ticks : linear_ticks(range, 4);
}

std::string tick_text(double value, double step) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  step = std::abs(step);
  if (size >= 1e9 || size < 1e-4) return fmt::format("{:.3g}", value);
  const double unit = size >= 1e6 ? 1e6 : size >= 1e3 ? 1e3 : 1;
  const char* suffix = unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
  const double shown_step = step > 0 ? step / unit : 1;
  const int digits = clamped(static_cast<int>(std::ceil(-std::log10(shown_step) - 1e-9)), 0, 6);
  return fmt::format("{:.{}f}{}", value / unit, digits, suffix);
}

PlotRange zoomed(PlotRange range, double fixed, double factor, bool log) {
  const double low = to_axis(range.low, log);
  const double high = to_axis(range.high, log);
  const double at = to_axis(fixed, log);
  const PlotRange result{from_axis(at + (low - at) * factor, log), from_axis(at + (high - at) * factor, log)};
  const double magnitude = std::max(std::abs(result.low), std::abs(result.high));
  const bool usable =
      std::isfinite(result.low) && std::isfinite(result.high) && result.width() > magnitude * 1e-9 && magnitude < 1e15;
  return usable ? result : range;
}

PlotRange panned(PlotRange range, double share, bool log) {
  const double low = to_axis(range.low, log);
  const double high = to_axis(range.high, log);
  const double by = (high - low) * share;
  return {from_axis(low + by, log), from_axis(high + by, log)};
}

PlotRange fitted_y(std::span<const PlotLine> lines, PlotRange x, bool log) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const PlotLine& line : lines) {
    const Series& series = *line.series;
    const auto begin = std::lower_bound(series.x.begin(), series.x.end(), x.low) - series.x.begin();
    const auto end = std::upper_bound(series.x.begin(), series.x.end(), x.high) - series.x.begin();
    for (auto i = begin; i < end; ++i) {
      const double y = series.y[static_cast<std::size_t>(i)];
      if (!drawable(y, log)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  if (!(low <= high)) return log ? PlotRange{0.1, 1} : PlotRange{0, 1};
  if (log) {
    const double air = std::max(1.05, std::pow(high / low, 0.05));
    return {low / air, high * air};
  }
  const double air = high > low ? (high - low) * 0.06 : std::max(std::abs(high) * 0.1, 1e-6);
  return {low - air, high + air};
}

PlotRange fitted_x(std::span<const PlotLine> lines) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const PlotLine& line : lines) {
    if (line.series->x.empty()) continue;
    low = std::min(low, line.series->x.front());
    high = std::max(high, line.series->x.back());
  }
  if (!(low <= high)) return {0, 1};
  if (low == high) return {low - 0.5, high + 0.5};
  return {low, high};
}

PlotRange shown_x(PlotAxis& axis, PlotRange data) {
  if (axis.window) {
    PlotRange& window = *axis.window;
    const double grown = data.high - axis.seen_high;
    if (grown > 0 && axis.follow && window.high >= axis.seen_high) {
      window.low += grown;
      window.high += grown;
    }
    const bool emptied = grown < 0 && window.low >= data.high;  // another run, with fewer steps
    if (emptied) axis.window.reset();
  }
  axis.seen_high = data.high;
  return axis.window.value_or(data);
}

std::optional<std::size_t> nearest_point(const Series& series, double x) {
  if (series.x.empty()) return std::nullopt;
  const auto after = std::lower_bound(series.x.begin(), series.x.end(), x);
  if (after == series.x.begin()) return 0;
  const auto index = static_cast<std::size_t>(after - series.x.begin());
  if (after == series.x.end()) return index - 1;
  return x - series.x[index - 1] <= series.x[index] - x ? index - 1 : index;
}

bool is_hidden(const PlotView& view, std::string_view name) {
  return std::find(view.hidden.begin(), view.hidden.end(), name) != view.hidden.end();
}

void toggle_line(PlotView& view, std::string_view name) {
  if (std::erase(view.hidden, name) == 0) view.hidden.emplace_back(name);
}

void solo_line(PlotView& view, std::string_view name, std::span<const PlotLine> lines) {
  const bool alone = std::all_of(lines.begin(), lines.end(),
                                 [&](const PlotLine& line) { return line.name == name || is_hidden(view, line.name); });
  view.hidden.clear();
  if (alone) return;
  for (const PlotLine& line : lines)
    if (line.name != name) view.hidden.emplace_back(line.name);
}

}  // namespace attnscope
