// Both ends of the backward pass: the loss over the logits, and the optimizer step.
#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {

namespace {

struct Sums {
  float exponentials, values;
};

// Sums exp(x − largest); with `replace`, x becomes its exponential.
Sums exponentials_and_sum(std::int64_t n, float largest, bool replace, float* x) {
  Vector exponentials = {}, values = {};
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    const Vector value = vector_at(x + i) - largest;
    const Vector power = exponential(value);
    values += value;
    exponentials += power;
    if (replace) vector_at(x + i) = power;
  }
  Sums sums = {};
  for (std::int64_t lane = 0; lane < width; ++lane) {  // in this order, so that losses stay bitwise unchanged
    sums.exponentials += exponentials[lane];
    sums.values += values[lane];
  }
  for (; i < n; ++i) {
    const float value = x[i] - largest;
    const float power = exponential(value);
    sums.values += value;
    sums.exponentials += power;
    if (replace) x[i] = power;
  }
  return sums;
}

}  // namespace

float cross_entropy_row(std::int64_t vocab_size, std::int64_t target, float smoothing, bool gradient, float weight,
                        float* logits) {
  const float largest = largest_of(vocab_size, logits);
  const float own = logits[target] - largest;
  const auto [exponentials, sum] = exponentials_and_sum(vocab_size, largest, gradient, logits);
  const float log_sum = __builtin_logf(exponentials);
  const float spread = smoothing / static_cast<float>(vocab_size);
  if (gradient) {
    const float factor = weight / exponentials;
    const float least = weight * spread;
    for (std::int64_t j = 0; j < vocab_size; ++j) logits[j] = logits[j] * factor - least;
    logits[target] -= weight * (1.0F - smoothing);
  }
  // log p_v = x_v − log Σ e^x
  return (1.0F - smoothing) * (log_sum - own) + smoothing * log_sum - spread * sum;
}

double gather_gradients(std::int64_t n, int parts, float* const* gradients) {
  constexpr std::int64_t block = 1024;
  double squares = 0;
  float* first = gradients[0];
  for (std::int64_t begin = 0; begin < n; begin += block) {
    const std::int64_t end = begin + block < n ? begin + block : n;
    for (int part = 1; part < parts; ++part) {
      float* other = gradients[part];
      for (std::int64_t i = begin; i < end; ++i) {
        first[i] += other[i];
        other[i] = 0;
      }
    }
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t i = begin; i < end; ++i) sum += first[i] * first[i];
    squares += static_cast<double>(sum);
  }
  return squares;
}

void adam(const AdamRule& given, std::int64_t n, float decay, const float* decayed, float* parameters, float* gradients,
          float* exp_avg, float* exp_avg_sq) {
  const AdamRule rule = given;  // a copy cannot alias the arrays, so its fields stay in registers
  if (decay > 0) {
    for (std::int64_t i = 0; i < n; ++i) parameters[i] -= decay * decayed[i] * parameters[i];
  }
  const float inverse_root_correction = 1.0F / rule.root_correction;
  for (std::int64_t i = 0; i < n; ++i) {
    const float gradient = gradients[i] * rule.gradient_scale;
    const float mean = exp_avg[i] + (1.0F - rule.beta1) * (gradient - exp_avg[i]);
    const float square = rule.beta2 * exp_avg_sq[i] + (1.0F - rule.beta2) * gradient * gradient;
    exp_avg[i] = mean;
    exp_avg_sq[i] = square;
    gradients[i] = 0;
    parameters[i] -= rule.step * mean / (__builtin_sqrtf(square) * inverse_root_correction + rule.epsilon);
  }
}

void add_scaled(std::int64_t n, float factor, const float* x, float* y) {
  for (std::int64_t i = 0; i < n; ++i) y[i] += factor * x[i];
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
