// Shared code of one level's loops. Everything is in the level's namespace: an inline function of the same name
// compiled for another level must not be linked instead.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "model/kernels/simd/loops.h"

namespace attnscope::ATTNSCOPE_LEVEL {

#if defined(__AVX512F__)
constexpr std::int64_t width = 16;
#elif defined(__AVX__)
constexpr std::int64_t width = 8;
#else
constexpr std::int64_t width = 4;
#endif

// One register of floats, at any alignment.
typedef float Vector __attribute__((vector_size(4 * width), aligned(4), may_alias));

// One register of 32-bit words.
typedef std::uint32_t Words __attribute__((vector_size(4 * width), aligned(4), may_alias));

// 0, 1, 2, …
template <std::size_t... Lanes>
constexpr Words counted(std::index_sequence<Lanes...>) {
  return Words{Lanes...};
}

inline Vector& vector_at(float* place) {
  return *reinterpret_cast<Vector*>(place);
}

inline const Vector& vector_at(const float* place) {
  return *reinterpret_cast<const Vector*>(place);
}

// Selects the lanes of the other half in each group of 2·Half.
template <std::int64_t Half, std::int64_t... Lanes>
inline Vector swapped(Vector x, std::integer_sequence<std::int64_t, Lanes...>) {
  return __builtin_shufflevector(x, x, (Lanes ^ Half)...);
}

// Reduces all lanes with `joined`, by halves: compilers that preserve the order of an `omp simd` reduction process
// lanes one by one.
template <std::int64_t Half = width / 2, typename Join>
inline float lanes_joined(Vector x, Join joined) {
  if constexpr (Half == 0) {
    return x[0];
  } else {
    const Vector other = swapped<Half>(x, std::make_integer_sequence<std::int64_t, width>());
    return lanes_joined<Half / 2>(joined(x, other), joined);
  }
}

inline Vector larger(Vector x, Vector y) {
  return x < y ? y : x;
}

inline float lanes_sum(Vector x) {
  return lanes_joined(x, [](Vector a, Vector b) { return a + b; });
}

inline float lanes_largest(Vector x) {
  return lanes_joined(x, larger);
}

// Σ x_i (y_i − middle)
inline float dot(std::int64_t n, const float* x, const float* y, float middle = 0) {
  Vector sums = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) sums += vector_at(x + i) * (vector_at(y + i) - middle);
  float sum = lanes_sum(sums);
  for (; i < n; ++i) sum += x[i] * (y[i] - middle);
  return sum;
}

inline float sum_of(std::int64_t n, const float* x) {
  Vector sums = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) sums += vector_at(x + i);
  float sum = lanes_sum(sums);
  for (; i < n; ++i) sum += x[i];
  return sum;
}

// The maximum, in several independent registers to hide latency.
inline float largest_of(std::int64_t n, const float* x) {
  constexpr std::int64_t together = 4;
  Vector most[together];
  for (Vector& each : most) each = Vector{} + x[0];
  std::int64_t i = 0;
  for (; i + together * width <= n; i += together * width) {
    for (std::int64_t k = 0; k < together; ++k) most[k] = larger(most[k], vector_at(x + i + k * width));
  }
  float largest = lanes_largest(larger(larger(most[0], most[1]), larger(most[2], most[3])));
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// Evaluates a polynomial of x by Horner's rule, highest coefficient first.
template <typename Float, typename... Lower>
inline Float polynomial(Float x, float highest, Lower... lower) {
  Float sum = Float{} + highest;
  ((sum = sum * x + lower), ...);
  return sum;
}

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline Words bits_of(Vector x) {
  return reinterpret_cast<Words>(x);
}

// e^x to 2 units in the last place; 0 below −87.3, where the result would be subnormal. NaN stays NaN. For a float, or
// every lane of a Vector.
template <typename Float>
inline Float exponential(Float x) {
  const Float lowest = Float{} - 87.3F, highest = Float{} + 88.7F;
  const Float below = x < lowest ? lowest : x;
  const Float clamped = below > highest ? highest : below;
  constexpr float round_to_integer = 12582912.0F;  // 1.5 · 2²³: adding it rounds to an integer
  const Float shifted = clamped * 1.44269504088896341F + round_to_integer;
  const Float n = shifted - round_to_integer;
  const Float r = (clamped - n * 0.693359375F) + n * 2.12194440e-4F;  // ln 2 in two parts
  const Float p = polynomial(r, 1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F, 4.1665795894e-2F,
                             1.6666665459e-1F, 5.0000001201e-1F);
  const Float fraction = p * r * r + r + 1.0F;
  const auto bits = (bits_of(shifted) + 127U) << 23U;  // the low bits of `shifted` are n
  Float power;
  std::memcpy(&power, &bits, sizeof power);
  return x < lowest ? Float{} : fraction * power;
}

inline float sigmoid(float x) {
  return 1.0F / (1.0F + exponential(-x));
}

// Near 0 the difference of exponentials would lose digits, so a rational function is used there.
inline float hyperbolic_tangent(float x) {
  const float clamped = x < -9.0F ? -9.0F : (x > 9.0F ? 9.0F : x);
  const float x2 = clamped * clamped;
  const float p =
      polynomial(x2, -2.76076847742355e-16F, 2.00018790482477e-13F, -8.60467152213735e-11F, 5.12229709037114e-08F,
                 1.48572235717979e-05F, 6.37261928875436e-04F, 4.89352455891786e-03F);
  const float q =
      polynomial(x2, 1.19825839466702e-06F, 1.18534705686654e-04F, 2.26843463243900e-03F, 4.89352518554385e-03F);
  return clamped * p / q;
}

// Gauss's error function: a rational function accurate to 3 units in the last place.
inline float error_function(float x) {
  const float clamped = x < -4.0F ? -4.0F : (x > 4.0F ? 4.0F : x);
  const float x2 = clamped * clamped;
  const float p =
      polynomial(x2, -2.72614225801306e-10F, 2.77068142495902e-08F, -2.10102402082508e-06F, -5.69250639462346e-05F,
                 -7.34990630326855e-04F, -2.95459980854025e-03F, -1.60960333262415e-02F);
  const float q = polynomial(x2, -1.45660718464996e-05F, -2.13374055278905e-04F, -1.68282697438203e-03F,
                             -7.37332916720468e-03F, -1.42647390514189e-02F);
  return clamped * p / q;
}

// A rows×depth matrix with element (i, k) at values[i · row + k · column], so it can also be transposed.
struct Left {
  const float* values;
  std::int64_t row, column;
};

// C (rows×columns) = A·B, or C += A·B: for matrices too small for a library. B and C have their own strides.
void small_product(std::int64_t rows, std::int64_t columns, std::int64_t depth, Left a, const float* b,
                   std::int64_t b_stride, float* c, std::int64_t c_stride, bool add);

// y (columns×rows) = xᵀ; the remainder of each row of y, up to its stride, is 0.
void transpose(std::int64_t rows, std::int64_t columns, const float* x, std::int64_t stride, float* y,
               std::int64_t y_stride);

void dropout_mask(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, float* mask);

// y[i] = x[i] · mask[i]; mask: n floats of scratch memory. A copy if there is no dropout.
inline void dropped(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, const float* x, float* mask,
                    float* y) {
  if (rule.threshold == 0) {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i];
    return;
  }
  dropout_mask(rule, stream, n, mask);
  for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * mask[i];
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
