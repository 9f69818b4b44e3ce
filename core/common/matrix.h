#pragma once

#include <cstddef>
#include <vector>

namespace attnscope {

// Row-major, rows × cols: an attention map (queries × keys), the position matrix (positions × d_model).
struct Matrix {
  int rows = 0;
  int cols = 0;
  std::vector<float> values;

  Matrix() = default;
  Matrix(int rows_, int cols_) : rows(rows_), cols(cols_), values(static_cast<std::size_t>(rows_) * cols_) {}

  float at(int row, int col) const { return values[static_cast<std::size_t>(row) * cols + col]; }
  float& at(int row, int col) { return values[static_cast<std::size_t>(row) * cols + col]; }
  bool empty() const { return values.empty(); }
  bool operator==(const Matrix&) const = default;
};

// [layer][head], each queries × keys; every row sums to 1.
using AttentionMaps = std::vector<std::vector<Matrix>>;

}  // namespace attnscope
