#include "analysis/attention_mix.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "analysis/matrix_algebra.h"

namespace attnscope {
namespace {

template <class Combine>
Matrix combined(std::span<const Matrix* const> maps, Combine&& combine) {
  if (maps.empty()) return {};
  Matrix result = *maps.front();
  for (const Matrix* map : maps.subspan(1))
    std::transform(result.values.begin(), result.values.end(), map->values.begin(), result.values.begin(), combine);
  return result;
}

template <class Change>
Matrix changed(const Matrix& map, Change&& change) {
  Matrix result(map.rows, map.cols);
  std::transform(map.values.begin(), map.values.end(), result.values.begin(), change);
  return result;
}

// Row `query` of the merged map: the mean over its tokens of the sums over each key's tokens.
void merge_row(const Matrix& map, const WordSpan& query, std::span<const WordSpan> keys, Matrix& result, int row) {
  const float share = 1.0F / static_cast<float>(query.end - query.begin);
  for (int key = 0; key < static_cast<int>(keys.size()); ++key) {
    float sum = 0;
    for (int from = query.begin; from < query.end; ++from) {
      for (int to = keys[static_cast<std::size_t>(key)].begin; to < keys[static_cast<std::size_t>(key)].end; ++to) {
        sum += map.at(from, to);
      }
    }
    result.at(row, key) = sum * share;
  }
}

}  // namespace

Matrix mean_map(std::span<const Matrix* const> maps) {
  Matrix result = combined(maps, [](float a, float b) { return a + b; });
  for (float& value : result.values) value /= static_cast<float>(maps.size());
  return result;
}

Matrix max_map(std::span<const Matrix* const> maps) {
  return combined(maps, [](float a, float b) { return std::max(a, b); });
}

Matrix rolled_through(const Matrix& before, std::span<const Matrix> heads) {
  Matrix layer = mean_map(all_of(heads));
  const bool off = std::ranges::all_of(layer.values, [](float value) { return value == 0; });
  for (float& value : layer.values) value *= 0.5F;
  for (int i = 0; i < std::min(layer.rows, layer.cols); ++i) layer.at(i, i) += off ? 1 : 0.5F;
  return before.empty() ? layer : product(layer, before);
}

Matrix rollout(const AttentionMaps& maps, int last) {
  Matrix result;
  const std::size_t count = std::min(maps.size(), static_cast<std::size_t>(last + 1));
  for (std::size_t layer = 0; layer < count; ++layer) result = rolled_through(result, maps[layer]);
  return result;
}

Matrix merged(const Matrix& map, std::span<const WordSpan> queries, std::span<const WordSpan> keys) {
  Matrix result(static_cast<int>(queries.size()), static_cast<int>(keys.size()));
  for (int row = 0; row < result.rows; ++row) merge_row(map, queries[static_cast<std::size_t>(row)], keys, result, row);
  return result;
}

Matrix difference(const Matrix& after, const Matrix& before) {
  const std::array<const Matrix*, 2> both = {&after, &before};
  return combined(both, std::minus<>());
}

Matrix gains(const Matrix& map) {
  return changed(map, [](float value) { return std::max(value, 0.0F); });
}

Matrix losses(const Matrix& map) {
  return changed(map, [](float value) { return std::isfinite(value) ? std::max(-value, 0.0F) : 0; });
}

std::vector<const Matrix*> all_of(std::span<const Matrix> heads) {
  std::vector<const Matrix*> pointers;
  for (const Matrix& head : heads) pointers.push_back(&head);
  return pointers;
}

std::vector<const Matrix*> all_of(const AttentionMaps& maps) {
  std::vector<const Matrix*> pointers;
  for (const std::vector<Matrix>& heads : maps) {
    for (const Matrix& head : heads) pointers.push_back(&head);
  }
  return pointers;
}

}  // namespace attnscope
