#include "analysis/cell_memory.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "common/clamped.h"

namespace attnscope {
namespace {

constexpr double least_gate = 1e-12;

double geometric_mean(const Matrix& gate, int unit) {
  double logs = 0;
  for (int step = 0; step < gate.rows; ++step)
    logs += std::log(std::max(least_gate, static_cast<double>(gate.at(step, unit))));
  return std::exp(logs / std::max(1, gate.rows));
}

double lag_correlation(const Matrix& h, int unit) {
  double mean = 0, same = 0, next = 0;
  for (int step = 0; step < h.rows; ++step) mean += static_cast<double>(h.at(step, unit)) / h.rows;
  for (int step = 0; step < h.rows; ++step) {
    const double here = static_cast<double>(h.at(step, unit)) - mean;
    same += here * here;
    if (step + 1 < h.rows) next += here * (static_cast<double>(h.at(step + 1, unit)) - mean);
  }
  return same > 0 ? clamped(next / same, 0.0, 1.0) : 0;
}

}  // namespace

double kept_share(const RecurrentStates& inspection, int unit) {
  const char* gate = inspection.cell == "lstm" ? "f" : "z";
  const auto found = std::ranges::find(inspection.gates, gate, &CellGate::symbol);
  return found == inspection.gates.end() ? lag_correlation(inspection.h, unit) : geometric_mean(found->values, unit);
}

double half_life(double share) {
  if (share >= 1) return std::numeric_limits<double>::infinity();
  return share <= 0 ? 0 : std::numbers::ln2 / -std::log(share);
}

std::vector<int> by_memory(const RecurrentStates& inspection) {
  std::vector<double> shares;
  for (int unit = 0; unit < inspection.h.cols; ++unit) shares.push_back(kept_share(inspection, unit));
  std::vector<int> order(shares.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int unit) {
    const double share = shares[static_cast<std::size_t>(unit)];
    return std::isnan(share) ? -1.0 : share;
  });
  return order;
}

}  // namespace attnscope
