// Row-wise operations: biases, activations, residuals, layer norms, embeddings.
#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr std::int64_t chunk = 2048;  // elements of a mask, so that it and its data stay in the L1 cache

constexpr float root_half = 0.70710678118654752F;
constexpr float root_of_half_over_pi = 0.39894228040143268F;  // 1/√(2π)

// x Φ(x) (1606.08415), and its derivative Φ(x) + x φ(x).
inline float gelu(float x) {
  return 0.5F * x * (1.0F + error_function(x * root_half));
}

inline float gelu_slope(float x) {
  return 0.5F * (1.0F + error_function(x * root_half)) + x * root_of_half_over_pi * exponential(-0.5F * x * x);
}

inline float activated(Activation activation, float x) {
  if (activation == Activation::relu) return x > 0.0F ? x : 0.0F;
  return activation == Activation::gelu ? gelu(x) : x;
}

// Calls work(begin, n, mask) for chunks of all rows, each with its own stream; the mask is null without dropout.
template <typename Work>
void masked_rows(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, Work work) {
  float mask[chunk];
  for (std::int64_t begin = 0, stream = 0; begin < rows * columns; begin += chunk, ++stream) {
    const std::int64_t n = rows * columns - begin < chunk ? rows * columns - begin : chunk;
    if (rule.threshold > 0) dropout_mask(rule, static_cast<std::uint64_t>(stream), n, mask);
    work(begin, n, rule.threshold > 0 ? static_cast<const float*>(mask) : nullptr);
  }
}

// Splits the n elements from `begin` on at row boundaries: work(first element, its column, count).
template <typename Work>
void by_rows(std::int64_t begin, std::int64_t n, std::int64_t columns, Work work) {
  for (std::int64_t i = begin; i < begin + n;) {
    const std::int64_t column = i % columns;
    const std::int64_t count = columns - column < begin + n - i ? columns - column : begin + n - i;
    work(i, column, count);
    i += count;
  }
}

// y = activated(x + bias) · mask; bias and mask may be null.
template <Activation A>
void activate_part(std::int64_t n, const float* x, const float* bias, const float* mask, float* y) {
  if (bias && mask) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = activated(A, x[i] + bias[i]) * mask[i];
  } else if (bias) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = activated(A, x[i] + bias[i]);
  } else if (mask) {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = activated(A, x[i]) * mask[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i) y[i] = activated(A, x[i]);
  }
}

template <Activation A>
void activate_all(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, const float* bias,
                  float* y) {
  masked_rows(rule, rows, columns, [&](std::int64_t begin, std::int64_t n, const float* mask) {
    if (!bias) return activate_part<A>(n, x + begin, nullptr, mask, y + begin);
    by_rows(begin, n, columns, [&](std::int64_t i, std::int64_t column, std::int64_t count) {
      activate_part<A>(count, x + i, bias + column, mask ? mask + i - begin : nullptr, y + i);
    });
  });
}

template <typename Slope>
void activation_backward(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* dy, float* dx,
                         Slope slope) {
  masked_rows(rule, rows, columns, [&](std::int64_t begin, std::int64_t n, const float* mask) {
    if (mask) {
      for (std::int64_t i = 0; i < n; ++i) dx[begin + i] = dy[begin + i] * mask[i] * slope(begin + i);
    } else {
      for (std::int64_t i = 0; i < n; ++i) dx[begin + i] = dy[begin + i] * slope(begin + i);
    }
  });
}

}  // namespace

void add_column_sums(std::int64_t rows, std::int64_t columns, const float* x, float* sums) {
  constexpr std::int64_t block = 64;  // columns whose sums stay in registers
  std::int64_t begin = 0;
  for (; begin + block <= columns; begin += block) {
    float part[block] = {};
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < block; ++j) part[j] += x[i * columns + begin + j];
    }
    for (std::int64_t j = 0; j < block; ++j) sums[begin + j] += part[j];
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = begin; j < columns; ++j) sums[j] += x[i * columns + j];
  }
}

void activate(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x,
              const float* bias, float* y) {
  if (activation == Activation::relu) return activate_all<Activation::relu>(rule, rows, columns, x, bias, y);
  if (activation == Activation::gelu) return activate_all<Activation::gelu>(rule, rows, columns, x, bias, y);
  activate_all<Activation::none>(rule, rows, columns, x, bias, y);
}

void activate_backward(Activation activation, const DropoutRule& rule, std::int64_t rows, std::int64_t columns,
                       const float* x, const float* y, const float* dy, float* dx) {
  if (activation == Activation::relu) {  // a positive output was neither clipped nor dropped
    const float scale = rule.scale;
    for (std::int64_t i = 0; i < rows * columns; ++i) dx[i] = y[i] > 0.0F ? dy[i] * scale : 0.0F;
  } else if (activation == Activation::gelu) {
    activation_backward(rule, rows, columns, dy, dx, [&](std::int64_t i) { return gelu_slope(x[i]); });
  } else {
    activation_backward(rule, rows, columns, dy, dx, [](std::int64_t) { return 1.0F; });
  }
}

void residual(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, const float* added,
              float* sum) {
  masked_rows(rule, rows, columns, [&](std::int64_t begin, std::int64_t n, const float* mask) {
    if (mask) {
      for (std::int64_t i = 0; i < n; ++i) sum[begin + i] = x[begin + i] + added[begin + i] * mask[i];
    } else {
      for (std::int64_t i = 0; i < n; ++i) sum[begin + i] = x[begin + i] + added[begin + i];
    }
  });
}

void drop(const DropoutRule& rule, std::int64_t rows, std::int64_t columns, const float* x, float* y) {
  activate(Activation::none, rule, rows, columns, x, nullptr, y);
}

void normalise(std::int64_t rows, std::int64_t columns, float epsilon, const float* x, const float* gain,
               const float* bias, float* mean, float* scale, float* y) {
  const float share = 1.0F / static_cast<float>(columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * columns;
    float* end = y + i * columns;
    const float middle = sum_of(columns, row) * share;
    for (std::int64_t j = 0; j < columns; ++j) end[j] = row[j] - middle;
    const float factor = 1.0F / __builtin_sqrtf(dot(columns, end, end) * share + epsilon);
    for (std::int64_t j = 0; j < columns; ++j) end[j] = end[j] * factor * gain[j] + bias[j];
    mean[i] = middle;
    scale[i] = factor;
  }
}

void normalise_backward(std::int64_t rows, std::int64_t columns, const float* x, const float* gain, const float* mean,
                        const float* scale, const float* dy, float* dx, float* gain_gradient, float* bias_gradient) {
  const float share = 1.0F / static_cast<float>(columns);
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = x + i * columns;
    const float* above = dy + i * columns;
    float* out = dx + i * columns;
    const float middle = mean[i];
    const float factor = scale[i];
#pragma omp simd  // otherwise alias checks find the gradients of gain and bias too close to each other
    for (std::int64_t j = 0; j < columns; ++j) {
      out[j] = above[j] * gain[j];
      gain_gradient[j] += above[j] * ((row[j] - middle) * factor);
      bias_gradient[j] += above[j];
    }
    const float sum = sum_of(columns, out) * share;
    const float along = dot(columns, out, row, middle) * factor * share;
    for (std::int64_t j = 0; j < columns; ++j) out[j] = factor * (out[j] - sum - (row[j] - middle) * factor * along);
  }
}

void embed(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
           const std::int64_t* ids, const float* table, float factor, const float* positions, float* y) {
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* vector = table + ids[i] * columns;
    float* row = y + i * columns;
    if (positions) {
      const float* position = positions + i % length * columns;
      for (std::int64_t j = 0; j < columns; ++j) row[j] = vector[j] * factor + position[j];
    } else {
      for (std::int64_t j = 0; j < columns; ++j) row[j] = vector[j] * factor;
    }
  }
  if (rule.threshold > 0) drop(rule, rows, columns, y, y);
}

void embed_backward(const DropoutRule& rule, std::int64_t rows, std::int64_t length, std::int64_t columns,
                    const std::int64_t* ids, std::int64_t padding_id, float factor, const float* dy,
                    float* table_gradient, float* position_gradient, float* scratch) {
  const float* kept = dy;
  if (rule.threshold > 0) {
    drop(rule, rows, columns, dy, scratch);
    kept = scratch;
  }
  for (std::int64_t i = 0; i < rows; ++i) {
    const float* row = kept + i * columns;
    if (ids[i] != padding_id) {
      float* gradient = table_gradient + ids[i] * columns;
      for (std::int64_t j = 0; j < columns; ++j) gradient[j] += row[j] * factor;
    }
    if (position_gradient) {
      float* gradient = position_gradient + i % length * columns;
      for (std::int64_t j = 0; j < columns; ++j) gradient[j] += row[j];
    }
  }
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
