#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr auto lanes = std::make_integer_sequence<std::int64_t, width>();

// Interleaves a₀ b₀ a₁ b₁ … of the lower half of the lanes (First 0) or the upper half (First width / 2).
template <std::int64_t First, std::int64_t... Lanes>
inline Vector interleaved(Vector a, Vector b, std::integer_sequence<std::int64_t, Lanes...>) {
  return __builtin_shufflevector(a, b, (First + Lanes / 2 + Lanes % 2 * width)...);
}

// Transposes width×width numbers, of which `num_rows` rows exist and the others are 0: log2(width) times, each row is
// interleaved with the row half the rows further on.
inline void transpose_square(std::int64_t num_rows, const float* x, std::int64_t stride, float* y,
                             std::int64_t y_stride) {
  Vector rows[width], next[width];
  for (std::int64_t i = 0; i < width; ++i) rows[i] = i < num_rows ? vector_at(x + i * stride) : Vector{};
#pragma GCC unroll 4
  for (std::int64_t halves = width; halves > 1; halves /= 2) {
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < width / 2; ++i) {
      next[2 * i] = interleaved<0>(rows[i], rows[i + width / 2], lanes);
      next[2 * i + 1] = interleaved<width / 2>(rows[i], rows[i + width / 2], lanes);
    }
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < width; ++i) rows[i] = next[i];
  }
  for (std::int64_t i = 0; i < width; ++i) vector_at(y + i * y_stride) = rows[i];
}

}  // namespace

void transpose(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t stride, float* y,
               std::int64_t y_stride) {
  const std::int64_t in_squares = columns / width * width;
  std::int64_t i = 0;
  for (; i + width <= y_stride; i += width) {
    for (std::int64_t j = 0; j < in_squares; j += width) {
      transpose_square(rows - i, x + i * stride + j, stride, y + j * y_stride + i, y_stride);
    }
  }
  const auto one_by_one = [&](std::int64_t first, std::int64_t begin, std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
      for (std::int64_t row = first; row < y_stride; ++row)
        y[j * y_stride + row] = row < rows ? x[row * stride + j] : 0;
    }
  };
  one_by_one(i, 0, in_squares);
  one_by_one(0, in_squares, columns);
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
