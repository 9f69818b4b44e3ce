#include "kernels/loops/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

typedef float Vector __attribute__((vector_size(4 * width), aligned(4), may_alias));

// As many rows and vectors as fit the registers, b's and one of a's beside them.
constexpr int tile_rows = 6;
constexpr int tile_vectors = 2;

template <int Rows, int Vectors>
void tile(std::int64_t depth, Left a, const float* b, std::int64_t b_stride, float* c, std::int64_t c_stride,
          bool add) {
  Vector sums[Rows][Vectors] = {};
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector row[Vectors];
    for (int v = 0; v < Vectors; ++v) row[v] = *reinterpret_cast<const Vector*>(b + k * b_stride + v * width);
    for (int r = 0; r < Rows; ++r) {
      const float factor = a.values[r * a.row + k * a.column];
      for (int v = 0; v < Vectors; ++v) sums[r][v] += factor * row[v];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) {
      Vector* place = reinterpret_cast<Vector*>(c + r * c_stride + v * width);
      *place = add ? *place + sums[r][v] : sums[r][v];
    }
  }
}

template <int Vectors>
void column_of_tiles(std::int64_t rows, std::int64_t depth, Left a, const float* b, std::int64_t b_stride, float* c,
                     std::int64_t c_stride, bool add) {
  std::int64_t i = 0;
  const auto from = [&](std::int64_t row) { return Left{a.values + row * a.row, a.row, a.column}; };
  for (; i + tile_rows <= rows; i += tile_rows) {
    tile<tile_rows, Vectors>(depth, from(i), b, b_stride, c + i * c_stride, c_stride, add);
  }
  for (; i + 2 <= rows; i += 2) tile<2, Vectors>(depth, from(i), b, b_stride, c + i * c_stride, c_stride, add);
  if (i < rows) tile<1, Vectors>(depth, from(i), b, b_stride, c + i * c_stride, c_stride, add);
}

// The columns that fill no vector.
void last_columns(std::int64_t rows, std::int64_t columns, std::int64_t depth, Left a, const float* b,
                  std::int64_t b_stride, float* c, std::int64_t c_stride, bool add) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float sum = add ? c[i * c_stride + j] : 0.0F;
      for (std::int64_t k = 0; k < depth; ++k) sum += a.values[i * a.row + k * a.column] * b[k * b_stride + j];
      c[i * c_stride + j] = sum;
    }
  }
}

}  // namespace

void small_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Left a, const float* b,
                   std::int64_t b_stride, float* c, std::int64_t c_stride, bool add) {
  std::int64_t j = 0;
  for (; j + tile_vectors * width <= columns; j += tile_vectors * width) {
    column_of_tiles<tile_vectors>(rows, depth, a, b + j, b_stride, c + j, c_stride, add);
  }
  for (; j + width <= columns; j += width) column_of_tiles<1>(rows, depth, a, b + j, b_stride, c + j, c_stride, add);
  if (j < columns) last_columns(rows, columns - j, depth, a, b + j, b_stride, c + j, c_stride, add);
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
