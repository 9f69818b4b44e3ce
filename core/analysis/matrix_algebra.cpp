#include "analysis/matrix_algebra.h"

#include <algorithm>
#include <cmath>

namespace attnscope {
namespace {

float dot(const Matrix& a, int a_row, const Matrix& b, int b_row) {
  double sum = 0;
  for (int i = 0; i < a.cols; ++i) sum += static_cast<double>(a.at(a_row, i)) * static_cast<double>(b.at(b_row, i));
  return static_cast<float>(sum);
}

}  // namespace

Matrix transposed(const Matrix& matrix) {
  Matrix result(matrix.cols, matrix.rows);
  for (int row = 0; row < matrix.rows; ++row)
    for (int col = 0; col < matrix.cols; ++col) result.at(col, row) = matrix.at(row, col);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.cols);
  for (int row = 0; row < a.rows; ++row) {
    float* out = &result.values[static_cast<std::size_t>(row) * b.cols];
    for (int inner = 0; inner < a.cols; ++inner) {
      const float factor = a.at(row, inner);
      if (factor == 0) continue;  // half of a causal map
      const float* in = &b.values[static_cast<std::size_t>(inner) * b.cols];
      for (int col = 0; col < b.cols; ++col) out[col] += factor * in[col];
    }
  }
  return result;
}

Matrix product_transposed(const Matrix& a, const Matrix& b) {
  Matrix result(a.rows, b.rows);
  for (int row = 0; row < a.rows; ++row)
    for (int col = 0; col < b.rows; ++col) result.at(row, col) = dot(a, row, b, col);
  return result;
}

float largest_size(std::span<const float> values) {
  float largest = 0;
  for (const float value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

float color_range(std::span<const float> values) {
  const float largest = largest_size(values);
  return largest > 0 ? largest : 1;
}

}  // namespace attnscope
