#include "messages/cost.h"

#include <fmt/format.h>

#include <cmath>

#include "common/mark.h"

namespace attnscope {
namespace {

constexpr std::array complexities = {
    LayerComplexity{"self-attention", "n\u00B2\u00B7d", "1", "1"},
    LayerComplexity{"recurrent", "n\u00B7d\u00B2", "n", "n"},
    LayerComplexity{"convolution", "k\u00B7n\u00B7d\u00B2", "1", "log_k n"},
};
static_assert(complexities.size() == cost_layers.size());

double exponent_of(const CostCurve& curve, double (*cost)(const CostPoint&)) {
  std::vector<double> sizes, costs;
  for (const CostPoint& point : curve.points) {
    sizes.push_back(static_cast<double>(point.length));
    costs.push_back(cost(point));
  }
  return fitted_exponent(sizes, costs);
}

}  // namespace

double fitted_exponent(std::span<const double> sizes, std::span<const double> costs) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = sizes.size() / 2; i < sizes.size(); ++i) {
    if (costs[i] <= 0) return 0;
    const double log_size = std::log(sizes[i]), log_cost = std::log(costs[i]);
    n += 1;
    x += log_size;
    y += log_cost;
    xx += log_size * log_size;
    xy += log_size * log_cost;
  }
  return n < 2 ? 0 : (n * xy - x * y) / (n * xx - x * x);
}

double time_exponent(const CostCurve& curve) {
  return exponent_of(curve, [](const CostPoint& point) { return point.milliseconds(); });
}

double memory_exponent(const CostCurve& curve) {
  return exponent_of(curve, [](const CostPoint& point) { return point.megabytes; });
}

std::string disturbed(const CostResult& inspection) {
  constexpr double quiet = 0.85;
  if (inspection.processor_share >= quiet) return {};
  return fmt::format(
      mark("Other programs used the processor {:.0f} % of the time, so times and exponents are overestimated."),
      100 * (1 - inspection.processor_share));
}

const LayerComplexity& complexity(CostLayer layer) {
  return complexities[static_cast<std::size_t>(layer)];
}

double multiplications(CostLayer layer, std::int64_t n, std::int64_t d, std::string_view cell) {
  const auto length = static_cast<double>(n), width = static_cast<double>(d);
  const double gates = cell == "lstm" ? 4 : cell == "gru" ? 3 : 1;
  switch (layer) {
    case CostLayer::self_attention:
      return 4 * length * width * width + 2 * length * length * width;
    case CostLayer::recurrent:
      return 2 * gates * length * width * width;
    case CostLayer::convolution:
      return static_cast<double>(cost_kernel) * length * width * width;
  }
  return 0;
}

}  // namespace attnscope
