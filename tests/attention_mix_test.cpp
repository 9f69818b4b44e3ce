// Maps made into one: means, maxima, rollout, words.
#include <gtest/gtest.h>

#include <numeric>

#include "analysis/attention_mix.h"

namespace attnscope {
namespace {

Matrix matrix_of(int rows, int cols, std::vector<float> values) {
  Matrix matrix(rows, cols);
  matrix.values = std::move(values);
  return matrix;
}

void expect_near(const Matrix& found, const Matrix& expected) {
  ASSERT_EQ(found.rows, expected.rows);
  ASSERT_EQ(found.cols, expected.cols);
  for (std::size_t i = 0; i < expected.values.size(); ++i) EXPECT_NEAR(found.values[i], expected.values[i], 1e-6) << i;
}

float row_sum(const Matrix& map, int row) {
  const auto begin = map.values.begin() + static_cast<std::ptrdiff_t>(row) * map.cols;
  return std::accumulate(begin, begin + map.cols, 0.0F);
}

// Rows of positive weights that sum to 1; right of the diagonal nothing, if causal.
Matrix some_map(int side, int seed, bool causal) {
  Matrix map(side, side);
  for (int row = 0; row < side; ++row) {
    float sum = 0;
    for (int col = 0; col < (causal ? row + 1 : side); ++col)
      sum += map.at(row, col) = static_cast<float>(1 + (row * 7 + col * 5 + seed * 3) % 11);
    for (int col = 0; col < side; ++col) map.at(row, col) /= sum;
  }
  return map;
}

TEST(AttentionMix, MeanAndMaximumAreCellByCell) {
  const Matrix a = matrix_of(2, 2, {1, 0, 0.5F, 0.5F});
  const Matrix b = matrix_of(2, 2, {0, 1, 0.25F, 0.75F});
  const std::vector<const Matrix*> maps{&a, &b};
  expect_near(mean_map(maps), matrix_of(2, 2, {0.5F, 0.5F, 0.375F, 0.625F}));
  expect_near(max_map(maps), matrix_of(2, 2, {1, 1, 0.5F, 0.75F}));
  expect_near(mean_map(std::vector<const Matrix*>{&a}), a);
  EXPECT_TRUE(mean_map({}).empty());
  EXPECT_TRUE(max_map({}).empty());
}

// Layer 1: heads (1 0; 0 1) and (0 1; 1 0), mean ½ everywhere, A_1 = (¾ ¼; ¼ ¾).
// Layer 2: both heads (1 0; 1 0), A_2 = (1 0; ½ ½). A_2 A_1 = (¾ ¼; ½ ½).
TEST(Rollout, IsTheProductOfTheLayersWithTheirResiduals) {
  const Matrix stay = matrix_of(2, 2, {1, 0, 0, 1});
  const Matrix swap = matrix_of(2, 2, {0, 1, 1, 0});
  const Matrix first = matrix_of(2, 2, {1, 0, 1, 0});
  const AttentionMaps maps{{stay, swap}, {first, first}};
  expect_near(rollout(maps, 0), matrix_of(2, 2, {0.75F, 0.25F, 0.25F, 0.75F}));
  expect_near(rollout(maps, 1), matrix_of(2, 2, {0.75F, 0.25F, 0.5F, 0.5F}));
  expect_near(rollout(maps, 9), rollout(maps, 1));
  EXPECT_TRUE(rollout({}, 0).empty());
}

// A layer that is switched off passes its input on; its weights are shown as 0.
TEST(Rollout, GoesThroughALayerThatIsOffUnchanged) {
  const Matrix some = some_map(4, 1, true);
  const Matrix other = some_map(4, 2, true);
  const Matrix off(4, 4);
  const Matrix without = rollout({{some}, {other}}, 1);
  expect_near(rollout({{some}, {off, off}, {other}}, 2), without);
  expect_near(rollout({{off}, {some}, {other}}, 2), without);
  expect_near(rollout({{some}, {other}, {off}}, 2), without);
}

TEST(Rollout, KeepsRowSumsAndTheMaskThroughManyLayers) {
  AttentionMaps maps;
  for (int layer = 0; layer < 12; ++layer) maps.push_back({some_map(40, layer, true), some_map(40, layer + 5, true)});
  const Matrix rolled = rollout(maps, 11);
  for (int row = 0; row < rolled.rows; ++row) {
    EXPECT_NEAR(row_sum(rolled, row), 1, 1e-5);
    for (int col = row + 1; col < rolled.cols; ++col) EXPECT_EQ(rolled.at(row, col), 0);
  }
}

// "▁The ▁ani mal" as queries and keys: The, animal.
TEST(Words, SumOverKeysAndAverageOverQueries) {
  const std::vector<WordSpan> words{{"The", 0, 1}, {"animal", 1, 3}};
  const Matrix map = matrix_of(3, 3, {0.2F, 0.3F, 0.5F, 0.4F, 0.4F, 0.2F, 0.8F, 0.1F, 0.1F});
  expect_near(merged(map, words, words), matrix_of(2, 2, {0.2F, 0.8F, 0.6F, 0.4F}));
}

TEST(Words, KeepRowSumsAndTheMaskHoweverPiecesAreCut) {
  const Matrix map = some_map(128, 2, true);
  std::vector<WordSpan> words;
  for (int at = 0, length = 1; at < 128; at += length, length = 1 + (length + at) % 5)
    words.push_back({"w", at, std::min(128, at + length)});
  for (std::size_t i = 0; i + 1 < words.size(); ++i) words[i].end = words[i + 1].begin;
  const Matrix made = merged(map, words, words);
  for (int row = 0; row < made.rows; ++row) {
    EXPECT_NEAR(row_sum(made, row), 1, 1e-5);
    for (int col = row + 1; col < made.cols; ++col) EXPECT_EQ(made.at(row, col), 0);
  }
}

TEST(Words, OfOnePieceChangeNothing) {
  const Matrix map = some_map(1, 0, false);
  const std::vector<WordSpan> words{{"a", 0, 1}};
  expect_near(merged(map, words, words), map);
  EXPECT_TRUE(merged({}, {}, {}).empty());
}

TEST(Difference, HasItsGainsAndItsLosses) {
  const Matrix change = difference(matrix_of(1, 3, {0.5F, 0.5F, 0}), matrix_of(1, 3, {0.2F, 0.5F, 0.3F}));
  expect_near(change, matrix_of(1, 3, {0.3F, 0, -0.3F}));
  expect_near(gains(change), matrix_of(1, 3, {0.3F, 0, 0}));
  expect_near(losses(change), matrix_of(1, 3, {0, 0, 0.3F}));
}

}  // namespace
}  // namespace attnscope
