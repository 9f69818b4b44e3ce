#include "plain/head_importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnscope {
namespace {

// 1 … n, of equal values their mean rank.
std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = (static_cast<double>(begin + end) + 1) / 2;
    begin = end;
  }
  return ranks;
}

}  // namespace

double agreement(const HeadsLook& look) {
  std::vector<double> exact, fast;
  for (const HeadImportance& head : look.heads) {
    exact.push_back(head.exact);
    fast.push_back(head.fast);
  }
  const std::vector<double> x = ranks_of(exact), y = ranks_of(fast);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx * yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace attnscope
