#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

// Columns processed together; with more, the rows would not fit the registers.
constexpr int tile_vectors = 2;

// The number of rows that fit the registers next to b's vectors and one of a's; AVX-512 has twice as many registers.
// Fewer rows would stall on latency.
template <int Vectors>
constexpr int tile_rows = (width == 16 ? 24 : 12) / Vectors;

template <int Rows, int Vectors>
void tile(std::int64_t depth, Left a, const float* b, std::int64_t b_stride, float* c, std::int64_t c_stride,
          bool add) {
  Vector sums[Rows][Vectors];
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) sums[r][v] = Vector{};
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    Vector row[Vectors];
    for (int v = 0; v < Vectors; ++v) row[v] = vector_at(b + k * b_stride + v * width);
    for (int r = 0; r < Rows; ++r) {
      const float factor = a.values[r * a.row + k * a.column];
      for (int v = 0; v < Vectors; ++v) sums[r][v] += factor * row[v];
    }
  }
#pragma GCC unroll 32
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) {
      Vector& place = vector_at(c + r * c_stride + v * width);
      place = add ? place + sums[r][v] : sums[r][v];
    }
  }
}

// A tile of `rows` rows, 1 to Most.
template <int Most, int Vectors>
void tile_of(std::int64_t rows, std::int64_t depth, Left a, const float* b, std::int64_t b_stride, float* c,
             std::int64_t c_stride, bool add) {
  if constexpr (Most > 1) {
    if (rows < Most) return tile_of<Most - 1, Vectors>(rows, depth, a, b, b_stride, c, c_stride, add);
  }
  tile<Most, Vectors>(depth, a, b, b_stride, c, c_stride, add);
}

// Splits the rows into tiles of similar height.
template <int Vectors>
void column_of_tiles(std::int64_t rows, std::int64_t depth, Left a, const float* b, std::int64_t b_stride, float* c,
                     std::int64_t c_stride, bool add) {
  constexpr int most = tile_rows<Vectors>;
  for (std::int64_t i = 0, tiles = (rows + most - 1) / most; tiles > 0; --tiles) {
    const std::int64_t count = (rows - i + tiles - 1) / tiles;
    tile_of<most, Vectors>(count, depth, {a.values + i * a.row, a.row, a.column}, b, b_stride, c + i * c_stride,
                           c_stride, add);
    i += count;
  }
}

// The remaining columns that do not fill a vector.
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
