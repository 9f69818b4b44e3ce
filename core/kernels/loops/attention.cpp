// One head of one pair: scores, softmax, dropout, values (Vaswani et al. 2017 §3.2.1), and Shaw's vectors (1803.02155).
#include "kernels/loops/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr float minus_infinity = -__builtin_inff();

std::int64_t padded(std::int64_t n) {
  return (n + key_padding - 1) / key_padding * key_padding;
}

// The scratch of one head, cut up.
struct Scratch {
  float* transposed;   // d×padded_keys, or d×padded distances
  float* matrix;       // queries×padded_keys
  float* mask;         // queries×padded_keys
  float* by_distance;  // queries×padded distances
  float* hidden;       // padded_keys: 0 or −∞

  Scratch(const HeadShape& shape, float* memory) {
    const std::int64_t columns = padded(shape.num_distances);
    transposed = memory;
    matrix = transposed + shape.d * (columns > shape.padded_keys ? columns : shape.padded_keys);
    mask = matrix + shape.queries * shape.padded_keys;
    by_distance = mask + shape.queries * shape.padded_keys;
    hidden = by_distance + shape.queries * columns;
  }
};

// The row of Shaw's tables for query i and key j.
std::int64_t distance(const HeadShape& shape, std::int64_t i, std::int64_t j) {
  const std::int64_t first_query = shape.keys - shape.queries;  // the queries are the last of the keys
  const std::int64_t row = j - i - first_query - shape.first_distance, last = shape.num_distances - 1;
  return row < 0 ? 0 : (row > last ? last : row);
}

// y (queries×keys) += x (queries×distances), each key taking its own.
void add_spread(const HeadShape& shape, const float* x, float* y) {
  const std::int64_t columns = padded(shape.num_distances);
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    for (std::int64_t j = 0; j < shape.keys; ++j)
      y[i * shape.padded_keys + j] += x[i * columns + distance(shape, i, j)];
  }
}

// y (queries×distances) = the sums of x (queries×keys) by distance.
void gather(const HeadShape& shape, const float* x, float* y) {
  const std::int64_t columns = padded(shape.num_distances);
  for (std::int64_t i = 0; i < shape.queries * columns; ++i) y[i] = 0;
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    for (std::int64_t j = 0; j < shape.keys; ++j)
      y[i * columns + distance(shape, i, j)] += x[i * shape.padded_keys + j];
  }
}

// matrix += x · (one of Shaw's tables)ᵀ, each key taking its distance's.
void add_relative(const HeadShape& shape, const float* x, std::int64_t stride, const float* table,
                  const Scratch& scratch) {
  const std::int64_t columns = padded(shape.num_distances);
  transpose(shape.num_distances, shape.d, table, shape.d, scratch.transposed, columns);
  small_product(shape.queries, columns, shape.d, {x, stride, 1}, scratch.transposed, columns, scratch.by_distance,
                columns, false);
  add_spread(shape, scratch.by_distance, scratch.matrix);
}

void softmax_row(const HeadShape& shape, const float* bias, const float* hidden, std::int64_t visible, const float* x,
                 float* y) {
  const auto n = static_cast<std::int32_t>(shape.padded_keys);
  const auto end = static_cast<std::int32_t>(visible < shape.keys ? visible : shape.keys);
  const float scale = shape.scale;
  for (std::int32_t j = 0; j < n; ++j) {
    const float score = x[j] * scale + hidden[j];
    y[j] = j < end ? score : minus_infinity;
  }
  if (bias) {
    for (std::int32_t j = 0; j < end; ++j) y[j] += bias[j];
  }
  float largest = minus_infinity;
#pragma omp simd reduction(max : largest)
  for (std::int32_t j = 0; j < n; ++j) largest = y[j] > largest ? y[j] : largest;
#pragma omp simd
  for (std::int32_t j = 0; j < n; ++j) y[j] = exponential(y[j] - largest);
  const float share = 1.0F / sum_of(n, y);
  for (std::int32_t j = 0; j < n; ++j) y[j] *= share;
}

// ds = p ∘ (dp − Σ p dp), the softmax's Jacobian, in place.
void softmax_backward_row(std::int64_t n, const float* p, float* dp) {
  const float sum = dot(n, p, dp);
  for (std::int64_t j = 0; j < n; ++j) dp[j] = p[j] * (dp[j] - sum);
}

}  // namespace

std::int64_t head_scratch(const HeadShape& shape) {
  const std::int64_t columns = padded(shape.num_distances);
  const std::int64_t widest = columns > shape.padded_keys ? columns : shape.padded_keys;
  return shape.d * widest + shape.queries * (2 * shape.padded_keys + columns) + shape.padded_keys;
}

void head_forward(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, float* weights,
                  float* output, float* memory) {
  const Scratch scratch(shape, memory);
  const std::int64_t keys = shape.padded_keys;
  transpose(shape.keys, shape.d, input.k, shape.memory_stride, scratch.transposed, keys);
  small_product(shape.queries, keys, shape.d, {input.q, shape.query_stride, 1}, scratch.transposed, keys,
                scratch.matrix, keys, false);
  if (input.relative_k) add_relative(shape, input.q, shape.query_stride, input.relative_k, scratch);
  for (std::int64_t j = 0; j < keys; ++j) {
    scratch.hidden[j] = j < shape.keys && !(input.padding && input.padding[j]) ? 0.0F : minus_infinity;
  }
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    softmax_row(shape, input.bias ? input.bias + i * shape.bias_stride : nullptr, scratch.hidden,
                i + shape.first_visible + 1, scratch.matrix + i * keys, weights + i * keys);
  }
  const float* kept = weights;
  if (rule.threshold > 0) {
    dropped(rule, input.stream, shape.queries * keys, weights, scratch.mask, scratch.matrix);
    kept = scratch.matrix;
  }
  small_product(shape.queries, shape.d, shape.keys, {kept, keys, 1}, input.v, shape.memory_stride, output,
                shape.output_stride, false);
  if (!input.relative_v) return;
  const std::int64_t columns = padded(shape.num_distances);
  gather(shape, kept, scratch.by_distance);
  small_product(shape.queries, shape.d, shape.num_distances, {scratch.by_distance, columns, 1}, input.relative_v,
                shape.d, output, shape.output_stride, true);
}

void head_backward(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, const float* weights,
                   const float* output_gradient, const HeadGradients& gradients, float* memory) {
  const Scratch scratch(shape, memory);
  const std::int64_t keys = shape.padded_keys;
  const std::int64_t columns = padded(shape.num_distances);
  const std::int64_t size = shape.queries * keys;
  float* kept = scratch.matrix;
  dropped(rule, input.stream, size, weights, scratch.mask, kept);
  small_product(shape.keys, shape.d, shape.queries, {kept, 1, keys}, output_gradient, shape.output_stride, gradients.v,
                shape.memory_stride, false);
  if (gradients.relative_v) {
    gather(shape, kept, scratch.by_distance);
    small_product(shape.num_distances, shape.d, shape.queries, {scratch.by_distance, 1, columns}, output_gradient,
                  shape.output_stride, gradients.relative_v, shape.d, true);
  }

  float* scores = scratch.matrix;  // from here on their gradient
  transpose(shape.keys, shape.d, input.v, shape.memory_stride, scratch.transposed, keys);
  small_product(shape.queries, keys, shape.d, {output_gradient, shape.output_stride, 1}, scratch.transposed, keys,
                scores, keys, false);
  if (input.relative_v) add_relative(shape, output_gradient, shape.output_stride, input.relative_v, scratch);
  if (rule.threshold > 0) {
    for (std::int64_t i = 0; i < size; ++i) scores[i] *= scratch.mask[i];
  }
  for (std::int64_t i = 0; i < shape.queries; ++i) softmax_backward_row(keys, weights + i * keys, scores + i * keys);
  if (gradients.bias) {
    for (std::int64_t i = 0; i < shape.queries; ++i) {
      for (std::int64_t j = 0; j < shape.keys; ++j) gradients.bias[i * shape.bias_stride + j] += scores[i * keys + j];
    }
  }
  const float scale = shape.scale;
  for (std::int64_t i = 0; i < size; ++i) scores[i] *= scale;
  small_product(shape.queries, shape.d, shape.keys, {scores, keys, 1}, input.k, shape.memory_stride, gradients.q,
                shape.query_stride, false);
  small_product(shape.keys, shape.d, shape.queries, {scores, 1, keys}, input.q, shape.query_stride, gradients.k,
                shape.memory_stride, false);
  if (!input.relative_k) return;
  gather(shape, scores, scratch.by_distance);
  small_product(shape.queries, shape.d, shape.num_distances, {scratch.by_distance, columns, 1}, input.relative_k,
                shape.d, gradients.q, shape.query_stride, true);
  if (!gradients.relative_k) return;
  small_product(shape.num_distances, shape.d, shape.queries, {scratch.by_distance, 1, columns}, input.q,
                shape.query_stride, gradients.relative_k, shape.d, true);
}

void rotate(std::int64_t num_heads, std::int64_t d, const float* rotation, float sign, const float* x, float* y) {
  for (std::int64_t head = 0; head < num_heads; ++head) {
    for (std::int64_t i = 0; i < d; i += 2) {
      const float cosine = rotation[i];
      const float sine = sign * rotation[i + 1];
      const float first = x[head * d + i];
      const float second = x[head * d + i + 1];
      y[head * d + i] = first * cosine - second * sine;
      y[head * d + i + 1] = first * sine + second * cosine;
    }
  }
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
