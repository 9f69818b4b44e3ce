#include "analysis/soft_lookup.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace attnscope {
namespace {

std::vector<float> row_copy(const Matrix& matrix, int row) {
  const auto begin = matrix.values.begin() + static_cast<std::ptrdiff_t>(row) * matrix.cols;
  return {begin, begin + matrix.cols};
}

// The first maximum; −1 if all are masked.
int best_of(const std::vector<float>& match) {
  int best = -1;
  for (int key = 0; key < static_cast<int>(match.size()); ++key) {
    const float value = match[static_cast<std::size_t>(key)];
    if (std::isinf(value) || std::isnan(value)) continue;
    if (best < 0 || value > match[static_cast<std::size_t>(best)]) best = key;
  }
  return best;
}

}  // namespace

SoftLookup soft_lookup(const HeadInside& head, const HeadStages& stages, int query, bool exact, LookupOrder order) {
  const std::vector<float> match = row_copy(stages.masked, query);
  std::vector<float> weights = row_copy(stages.weights, query);
  SoftLookup lookup;
  const int best = best_of(match);
  if (exact) {
    std::ranges::fill(weights, 0.0F);
    if (best >= 0) weights[static_cast<std::size_t>(best)] = 1;
  }
  lookup.keys.resize(match.size());
  std::iota(lookup.keys.begin(), lookup.keys.end(), 0);
  if (order == LookupOrder::by_weight) {
    std::ranges::stable_sort(lookup.keys, [&](int a, int b) {
      return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
    });
  }
  const int rows = static_cast<int>(match.size());
  const int cols = head.v.cols;
  lookup.values = Matrix(rows, cols);
  lookup.sums = Matrix(rows, cols);
  lookup.output.assign(static_cast<std::size_t>(cols), 0);
  std::vector<double> sum(static_cast<std::size_t>(cols));
  for (int row = 0; row < rows; ++row) {
    const int key = lookup.keys[static_cast<std::size_t>(row)];
    const float weight = weights[static_cast<std::size_t>(key)];
    if (key == best) lookup.best = row;
    lookup.match.push_back(match[static_cast<std::size_t>(key)]);
    lookup.weights.push_back(weight);
    for (int col = 0; col < cols; ++col) {
      float value = head.v.at(key, col);
      if (!head.relative_v.empty()) value += head.relative_v.at(distance_row(head.relative_v.rows, query, key), col);
      lookup.values.at(row, col) = value;
      sum[static_cast<std::size_t>(col)] += static_cast<double>(weight) * static_cast<double>(value);
      lookup.sums.at(row, col) = static_cast<float>(sum[static_cast<std::size_t>(col)]);
    }
  }
  for (int col = 0; rows > 0 && col < cols; ++col)
    lookup.output[static_cast<std::size_t>(col)] = lookup.sums.at(rows - 1, col);
  return lookup;
}

}  // namespace attnscope
