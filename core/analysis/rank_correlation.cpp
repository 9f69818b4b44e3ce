#include "analysis/rank_correlation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace attnscope {
namespace {

// Ranks 1 … n minus their mean; ties get their mean rank.
std::vector<double> centred_ranks(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;  // NaN does not equal itself
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double rank = (static_cast<double>(begin + end) - static_cast<double>(values.size())) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = rank;
    begin = end;
  }
  return ranks;
}

}  // namespace

double rank_correlation(std::span<const double> x, std::span<const double> y) {
  const std::vector<double> a = centred_ranks(x), b = centred_ranks(y);
  const auto dot = [](const auto& u, const auto& v) { return std::inner_product(u.begin(), u.end(), v.begin(), 0.0); };
  const double spread = dot(a, a) * dot(b, b);
  return spread > 0 ? dot(a, b) / std::sqrt(spread) : 0;
}

}  // namespace attnscope
