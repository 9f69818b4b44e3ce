// One head of one sequence: scores, softmax, dropout, values (Vaswani et al. 2017 §3.2.1), and Shaw's vectors
// (1803.02155).
#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr float minus_infinity = -__builtin_inff();

std::int64_t padded(std::int64_t n) {
  return (n + key_padding - 1) / key_padding * key_padding;
}

// The scratch memory of one head, divided into buffers.
struct Scratch {
  float* transposed;   // d×padded_keys
  float* matrix;       // queries×padded_keys
  float* mask;         // queries×padded_keys
  float* by_distance;  // queries×padded distances
  float* hidden;       // padded_keys: 0 or −∞

  Scratch(const HeadShape& shape, float* memory) {
    transposed = memory;
    matrix = transposed + shape.d * shape.padded_keys;
    mask = matrix + shape.queries * shape.padded_keys;
    by_distance = mask + shape.queries * shape.padded_keys;
    hidden = by_distance + shape.queries * padded(shape.num_distances);
  }
};

// For query i: keys from `begin` to `end` use rows j + offset of Shaw's tables; earlier keys use the first row, later
// keys the last.
struct Run {
  std::int64_t begin, end, offset;

  Run(const HeadShape& shape, std::int64_t i) {
    offset = shape.queries - shape.keys - i - shape.first_distance;  // the queries are the last keys
    const auto key = [&](std::int64_t j) { return j < 0 ? 0 : (j > shape.keys ? shape.keys : j); };
    begin = key(-offset);
    end = key(shape.num_distances - offset);
  }
};

// y (queries×keys) += x (queries×distances), indexed by each key's distance.
void add_spread(const HeadShape& shape, const float* x, float* y) {
  const std::int64_t columns = padded(shape.num_distances), last = shape.num_distances - 1;
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    const Run run(shape, i);
    const float* from = x + i * columns;
    float* to = y + i * shape.padded_keys;
    for (std::int64_t j = 0; j < run.begin; ++j) to[j] += from[0];
#pragma omp simd
    for (std::int64_t j = run.begin; j < run.end; ++j) to[j] += from[j + run.offset];
    for (std::int64_t j = run.end; j < shape.keys; ++j) to[j] += from[last];
  }
}

// y (queries×distances) = the sums of x (queries×keys) by distance.
void gather(const HeadShape& shape, const float* x, float* y) {
  const std::int64_t columns = padded(shape.num_distances), last = shape.num_distances - 1;
  for (std::int64_t i = 0; i < shape.queries; ++i) {
    const Run run(shape, i);
    const float* from = x + i * shape.padded_keys;
    float* to = y + i * columns;
    for (std::int64_t row = 0; row < columns; ++row) to[row] = 0;
    for (std::int64_t j = 0; j < run.begin; ++j) to[0] += from[j];
#pragma omp simd
    for (std::int64_t j = run.begin; j < run.end; ++j) to[j + run.offset] += from[j];
    for (std::int64_t j = run.end; j < shape.keys; ++j) to[last] += from[j];
  }
}

// matrix += x · (the transposed table), indexed by each key's distance.
void add_relative(const HeadShape& shape, const float* x, std::int64_t stride, const float* transposed_table,
                  const Scratch& scratch) {
  const std::int64_t columns = padded(shape.num_distances);
  small_product(shape.queries, columns, shape.d, {x, stride, 1}, transposed_table, shape.table_stride,
                scratch.by_distance, columns, false);
  add_spread(shape, scratch.by_distance, scratch.matrix);
}

void softmax_row(const HeadShape& shape, const float* bias, const float* hidden, std::int64_t visible, const float* x,
                 float* y) {
  const std::int64_t n = shape.padded_keys;
  const auto end = static_cast<std::uint32_t>(visible < shape.keys ? visible : shape.keys);
  const Vector nothing = Vector{} + minus_infinity;
  Words key = counted(std::make_index_sequence<width>());
  for (std::int64_t j = 0; j < n; j += width, key += static_cast<std::uint32_t>(width)) {
    const Vector score = vector_at(x + j) * shape.scale + vector_at(hidden + j);
    vector_at(y + j) = key < end ? score : nothing;
  }
  if (bias) {
    for (std::uint32_t j = 0; j < end; ++j) y[j] += bias[j];
  }
  Vector most = nothing;
  for (std::int64_t j = 0; j < n; j += width) most = larger(most, vector_at(y + j));
  const float largest = lanes_largest(most);
  Vector sums = {};
  for (std::int64_t j = 0; j < n; j += width) {
    vector_at(y + j) = exponential(vector_at(y + j) - largest);
    sums += vector_at(y + j);
  }
  const float share = 1.0F / lanes_sum(sums);
  for (std::int64_t j = 0; j < n; j += width) vector_at(y + j) *= share;
}

// ds = p ∘ (dp − Σ p dp), the softmax's Jacobian, in place.
void softmax_backward_row(std::int64_t n, const float* p, float* dp) {
  const float sum = dot(n, p, dp);
  for (std::int64_t j = 0; j < n; ++j) dp[j] = p[j] * (dp[j] - sum);
}

}  // namespace

std::int64_t head_scratch(const HeadShape& shape) {
  return (shape.d + 2 * shape.queries + 1) * shape.padded_keys + shape.queries * padded(shape.num_distances);
}

void head_forward(const HeadShape& shape, const HeadInput& input, const DropoutRule& rule, float* weights,
                  float* output, float* memory) {
  const Scratch scratch(shape, memory);
  const std::int64_t keys = shape.padded_keys;
  transpose(shape.keys, shape.d, input.k, shape.memory_stride, scratch.transposed, keys);
  small_product(shape.queries, keys, shape.d, {input.q, shape.query_stride, 1}, scratch.transposed, keys,
                scratch.matrix, keys, false);
  if (input.transposed_table) add_relative(shape, input.q, shape.query_stride, input.transposed_table, scratch);
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
  if (!input.table) return;
  const std::int64_t columns = padded(shape.num_distances);
  gather(shape, kept, scratch.by_distance);
  small_product(shape.queries, shape.d, shape.num_distances, {scratch.by_distance, columns, 1}, input.table, shape.d,
                output, shape.output_stride, true);
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

  float* scores = scratch.matrix;  // from here on it holds the gradient of the scores
  transpose(shape.keys, shape.d, input.v, shape.memory_stride, scratch.transposed, keys);
  small_product(shape.queries, keys, shape.d, {output_gradient, shape.output_stride, 1}, scratch.transposed, keys,
                scores, keys, false);
  if (input.transposed_table)
    add_relative(shape, output_gradient, shape.output_stride, input.transposed_table, scratch);
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
  if (!input.table) return;
  gather(shape, scores, scratch.by_distance);
  small_product(shape.queries, shape.d, shape.num_distances, {scratch.by_distance, columns, 1}, input.table, shape.d,
                gradients.q, shape.query_stride, true);
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
