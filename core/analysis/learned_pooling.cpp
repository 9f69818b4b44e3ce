#include "analysis/learned_pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/normal_random.h"

namespace attnscope {
namespace {

constexpr int of_projection = pooling_width * pooling_features;
constexpr double no_estimate = std::numeric_limits<double>::quiet_NaN();
const double root = std::sqrt(static_cast<double>(pooling_width));

bool is_projected(const LearnedPooling& pooling) {
  return pooling.step >= PoolingStep::projections;
}

std::array<double, pooling_features> features(double x) {
  const double z = 2 * x / last_key - 1;
  return {1, z, z * z};
}

std::size_t first_of(int head, bool of_keys) {
  return static_cast<std::size_t>((2 * head + (of_keys ? 1 : 0)) * of_projection);
}

// The factor of x − x_i.
double inverse_width(const LearnedPooling& pooling) {
  return pooling.step == PoolingStep::kernel ? 1 / pooling.kernel_width : pooling.parameters.front();
}

// −((z − z_i) w)²/2 = w²(z z_i − z_i²/2) − (w z)²/2. The last term is equal for all keys, so the softmax cancels it.
// Thus q = w√√d (z, 1) and k = w√√d (z_i, −z_i²/2) give the Gaussian kernel's weights.
void set_gaussian(std::span<double> parameters, int head, double w) {
  const double of_each = w * std::sqrt(root);
  const std::size_t q = first_of(head, false), k = first_of(head, true);
  parameters[q + 1] = of_each;                          // q_0 = z
  parameters[q + pooling_features] = of_each;           // q_1 = 1
  parameters[k + 1] = of_each;                          // k_0 = z_i
  parameters[k + pooling_features + 2] = -of_each / 2;  // k_1 = −z_i²/2
}

void softmax(std::span<double> scores) {
  const double largest = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - largest);
  for (double& score : scores) score /= sum;
}

// Adds ∂score/∂parameters · `factor` to the gradient.
void add_score_gradient(const LearnedPooling& pooling, int head, double x, double key, double factor,
                        std::vector<double>& gradient) {
  if (pooling.step == PoolingStep::kernel) return;
  if (pooling.step == PoolingStep::width) {
    gradient.front() -= factor * (x - key) * (x - key) * pooling.parameters.front();
    return;
  }
  const auto q = projected(pooling, head, false, x), k = projected(pooling, head, true, key);
  const auto phi_x = features(x), phi_key = features(key);
  for (int row = 0; row < pooling_width; ++row) {
    for (int col = 0; col < pooling_features; ++col) {
      const auto at = static_cast<std::size_t>(row * pooling_features + col);
      const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(col);
      gradient[first_of(head, false) + at] += factor * k[r] * phi_x[c] / root;
      gradient[first_of(head, true) + at] += factor * q[r] * phi_key[c] / root;
    }
  }
}

// One head's leave-one-out estimate at key `i`: its weights (0 at i), and the weighted sum of values.
struct LeftOut {
  std::vector<double> weights;
  double estimate = 0;
};

LeftOut leave_out(const LearnedPooling& pooling, int head, const KeyedValues& known, std::size_t i) {
  LeftOut out;
  for (const double key : known.keys) out.weights.push_back(pooling_score(pooling, head, known.keys[i], key));
  out.weights[i] = -INFINITY;
  softmax(out.weights);
  for (std::size_t j = 0; j < known.size(); ++j) out.estimate += out.weights[j] * known.values[j];
  return out;
}

}  // namespace

LearnedPooling first_pooling(PoolingStep step, double kernel_width, std::uint64_t seed) {
  LearnedPooling pooling{step, kernel_width, {}};
  if (step == PoolingStep::kernel) return pooling;
  if (step == PoolingStep::width) {
    pooling.parameters = {1 / kernel_width};
    return pooling;
  }
  const int heads = pooling.heads();
  pooling.parameters.assign(static_cast<std::size_t>(2 * heads * of_projection), 0);
  NormalRandom random(seed);
  for (int head = 0; head < heads; ++head) {
    const double wider = std::pow(2.0, head - (heads - 1) / 2.0);  // 1/2, 1, 2 for three heads
    set_gaussian(pooling.parameters, head, last_key / 2 / kernel_width * wider);
  }
  if (heads == 1) return pooling;
  for (double& parameter : pooling.parameters) parameter += 0.1 * random.normal();
  pooling.parameters.insert(pooling.parameters.end(), static_cast<std::size_t>(heads), 1.0 / heads);
  return pooling;
}

std::span<const double> projection(const LearnedPooling& pooling, int head, bool of_keys) {
  return std::span(pooling.parameters).subspan(first_of(head, of_keys), of_projection);
}

std::vector<double> head_mix(const LearnedPooling& pooling) {
  if (pooling.heads() == 1) return {1};
  return {pooling.parameters.end() - pooling.heads(), pooling.parameters.end()};
}

std::array<double, pooling_width> projected(const LearnedPooling& pooling, int head, bool of_keys, double x) {
  const std::span<const double> w = projection(pooling, head, of_keys);
  const auto phi = features(x);
  std::array<double, pooling_width> result = {};
  for (std::size_t row = 0; row < pooling_width; ++row)
    for (std::size_t col = 0; col < pooling_features; ++col) result[row] += w[row * pooling_features + col] * phi[col];
  return result;
}

double pooling_score(const LearnedPooling& pooling, int head, double x, double key) {
  if (!is_projected(pooling)) {
    const double u = (x - key) * inverse_width(pooling);
    return -u * u / 2;
  }
  const auto q = projected(pooling, head, false, x), k = projected(pooling, head, true, key);
  double product = 0;
  for (std::size_t i = 0; i < q.size(); ++i) product += q[i] * k[i];
  return product / root;
}

Matrix pooling_weights(const LearnedPooling& pooling, int head, std::span<const double> queries,
                       std::span<const double> keys) {
  Matrix weights(static_cast<int>(queries.size()), static_cast<int>(keys.size()));
  std::vector<double> row(keys.size());
  for (std::size_t query = 0; query < queries.size() && !keys.empty(); ++query) {
    for (std::size_t i = 0; i < keys.size(); ++i) row[i] = pooling_score(pooling, head, queries[query], keys[i]);
    softmax(row);
    for (std::size_t i = 0; i < keys.size(); ++i)
      weights.at(static_cast<int>(query), static_cast<int>(i)) = static_cast<float>(row[i]);
  }
  return weights;
}

std::vector<double> pooling_estimates(const LearnedPooling& pooling, std::span<const double> queries,
                                      const KeyedValues& known) {
  std::vector<double> estimates(queries.size(), known.keys.empty() ? no_estimate : 0);
  const std::vector<double> mix = head_mix(pooling);
  for (int head = 0; head < pooling.heads(); ++head) {
    const Matrix weights = pooling_weights(pooling, head, queries, known.keys);
    for (int row = 0; row < weights.rows; ++row)
      for (int i = 0; i < weights.cols; ++i)
        estimates[static_cast<std::size_t>(row)] += mix[static_cast<std::size_t>(head)] *
                                                    static_cast<double>(weights.at(row, i)) *
                                                    known.values[static_cast<std::size_t>(i)];
  }
  return estimates;
}

double pooling_loss(const LearnedPooling& pooling, const KeyedValues& known, std::vector<double>* gradient) {
  if (gradient) gradient->assign(pooling.parameters.size(), 0);
  if (known.size() < 2) return no_estimate;
  const auto count = static_cast<double>(known.size());
  const std::vector<double> mix = head_mix(pooling);
  double loss = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    std::vector<LeftOut> heads;
    double error = -known.values[i];
    for (int head = 0; head < pooling.heads(); ++head) {
      heads.push_back(leave_out(pooling, head, known, i));
      error += mix[static_cast<std::size_t>(head)] * heads.back().estimate;
    }
    loss += error * error / count;
    if (!gradient) continue;
    const double slope = 2 * error / count;  // ∂loss/∂ŷ
    for (std::size_t head = 0; head < heads.size(); ++head) {
      const LeftOut& out = heads[head];
      if (heads.size() > 1) (*gradient)[gradient->size() - heads.size() + head] += slope * out.estimate;
      // ∂ŷ_h/∂score_j = w_j (y_j − ŷ_h)
      for (std::size_t j = 0; j < known.size(); ++j)
        if (j != i)
          add_score_gradient(pooling, static_cast<int>(head), known.keys[i], known.keys[j],
                             slope * mix[head] * out.weights[j] * (known.values[j] - out.estimate), *gradient);
    }
  }
  return loss;
}

double PoolingDescent::update(LearnedPooling& pooling, const KeyedValues& known, double learning_rate) {
  std::vector<double> gradient;
  const double loss = pooling_loss(pooling, known, &gradient);
  if (std::isfinite(loss)) adam_.update(pooling.parameters, gradient, learning_rate);
  return loss;
}

}  // namespace attnscope
