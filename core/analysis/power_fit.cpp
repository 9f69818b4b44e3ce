#include "analysis/power_fit.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace attnscope {

std::optional<PowerFit> power_fit(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size() || std::set(x.begin(), x.end()).size() < 3) return std::nullopt;
  const auto n = static_cast<double>(x.size());
  double sum_x = 0, sum_y = 0, xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0) || !(y[i] > 0)) return std::nullopt;
    const double a = std::log(x[i]), b = std::log(y[i]);
    sum_x += a;
    sum_y += b;
    xx += a * a;
    xy += a * b;
    yy += b * b;
  }
  const double spread_x = xx - sum_x * sum_x / n, spread_y = yy - sum_y * sum_y / n, both = xy - sum_x * sum_y / n;
  const double exponent = both / spread_x;
  const double explained = spread_y > 1e-12 ? both * both / (spread_x * spread_y) : 1;
  const double error = std::sqrt(std::max(0.0, spread_y - exponent * both) / (n - 2) / spread_x);
  return PowerFit{std::exp((sum_y - exponent * sum_x) / n), exponent, error, explained};
}

}  // namespace attnscope
