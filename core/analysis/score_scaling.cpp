#include "analysis/score_scaling.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/matrix_algebra.h"
#include "analysis/normal_random.h"
#include "common/clamped.h"

namespace attnscope {
namespace {

Matrix normal_matrix(int rows, int cols, NormalRandom& random) {
  Matrix matrix(rows, cols);
  for (float& value : matrix.values) value = static_cast<float>(random.normal());
  return matrix;
}

// Over the first d columns; sums in independent lanes, which the compiler vectorizes.
float dot(const float* a, const float* b, int d) {
  constexpr int lanes = 8;
  float sums[lanes] = {};
  int i = 0;
  for (; i + lanes <= d; i += lanes)
    for (int lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (; i < d; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

std::span<const float> row_of(const Matrix& matrix, int row) {
  return std::span(matrix.values).subspan(static_cast<std::size_t>(row) * matrix.cols, matrix.cols);
}

Matrix row_softmax(const Matrix& scores, double factor) {
  Matrix weights(scores.rows, scores.cols);
  for (int row = 0; row < scores.rows; ++row) {
    const float largest = *std::ranges::max_element(row_of(scores, row));
    double sum = 0;
    for (int col = 0; col < scores.cols; ++col) {
      const double weight = std::exp(factor * static_cast<double>(scores.at(row, col) - largest));
      weights.at(row, col) = static_cast<float>(weight);
      sum += weight;
    }
    for (int col = 0; col < scores.cols; ++col) weights.at(row, col) /= static_cast<float>(sum);
  }
  return weights;
}

SoftmaxSpread spread_of_rows(const Matrix& weights) {
  SoftmaxSpread spread;
  for (int row = 0; row < weights.rows; ++row) {
    const std::span<const float> p = row_of(weights, row);
    for (const float weight : p)
      if (weight > 0) spread.entropy -= static_cast<double>(weight) * std::log(static_cast<double>(weight));
    spread.jacobian += jacobian_norm(p);
    spread.largest += static_cast<double>(*std::ranges::max_element(p));
  }
  for (double* sum : {&spread.entropy, &spread.jacobian, &spread.largest}) *sum /= weights.rows;
  return spread;
}

}  // namespace

double jacobian_norm(std::span<const float> weights) {
  double squares = 0, cubes = 0;
  for (const float weight : weights) {
    const auto p = static_cast<double>(weight);
    squares += p * p;
    cubes += p * p * p;
  }
  return std::sqrt(std::max(0.0, squares - 2 * cubes + squares * squares));
}

ScoreSample::ScoreSample(int keys, std::uint64_t seed) {
  NormalRandom random(seed);
  q_ = normal_matrix(clamped(4096 / keys, 32, 256), most_dimensions, random);
  k_ = normal_matrix(keys, most_dimensions, random);
}

ScaledScores ScoreSample::scores(int d) const {
  ScaledScores scores;
  scores.d = d;
  scores.products = Matrix(q_.rows, k_.rows);
  double sum = 0, squares = 0;
  for (int row = 0; row < q_.rows; ++row) {
    for (int col = 0; col < k_.rows; ++col) {
      const float product = dot(row_of(q_, row).data(), row_of(k_, col).data(), d);
      scores.products.at(row, col) = product;
      sum += static_cast<double>(product);
      squares += static_cast<double>(product) * static_cast<double>(product);
    }
  }
  const auto count = static_cast<double>(scores.products.values.size());
  scores.mean = sum / count;
  scores.variance = squares / count - scores.mean * scores.mean;
  scores.plain = row_softmax(scores.products, 1);
  scores.divided = row_softmax(scores.products, 1 / std::sqrt(static_cast<double>(d)));
  scores.of_plain = spread_of_rows(scores.plain);
  scores.of_divided = spread_of_rows(scores.divided);
  return scores;
}

double product_variance(const Matrix& q, const Matrix& k) {
  const Matrix products = product_transposed(q, k);
  double sum = 0, squares = 0;
  for (const float product : products.values) {
    sum += static_cast<double>(product);
    squares += static_cast<double>(product) * static_cast<double>(product);
  }
  const auto count = static_cast<double>(products.values.size());
  return squares / count - sum / count * (sum / count);
}

double normal_density(double x, double variance) {
  return std::exp(-x * x / (2 * variance)) / std::sqrt(2 * std::numbers::pi * variance);
}

}  // namespace attnscope
