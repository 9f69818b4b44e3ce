// Floats rounded to bfloat16: the upper half of their bits.
#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

// The nearest bfloat16 in the upper 16 bits, ties to even; NaN stays NaN.
inline std::uint32_t rounded_bits(float x) {
  const auto bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t nearest = bits + 0x7FFFU + ((bits >> 16U) & 1U);
  const std::uint32_t quiet = bits | 0x400000U;
  return ((bits & 0x7FFFFFFFU) > 0x7F800000U ? quiet : nearest) & 0xFFFF0000U;
}

}  // namespace

void round_to_bfloat16(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, float* y) {
  for (std::int64_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j)
      y[i * columns + j] = __builtin_bit_cast(float, rounded_bits(x[i * stride + j]));
  }
}

void pack_bfloat16(std::int64_t rows, std::int64_t columns, std::int64_t stride, const float* x, std::uint16_t* y) {
  for (std::int64_t i = 0; i < rows; ++i) {
#pragma omp simd
    for (std::int64_t j = 0; j < columns; ++j)
      y[i * columns + j] = static_cast<std::uint16_t>(rounded_bits(x[i * stride + j]) >> 16U);
  }
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
