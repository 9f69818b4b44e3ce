#include "analysis/kernel_regression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "analysis/normal_random.h"

namespace attnscope {
namespace {

constexpr double nothing = std::numeric_limits<double>::quiet_NaN();

constexpr std::array texts = {
    KernelText{"constant", "1",
               "Every key counts equally, however far away it is: the plain average of all values (average pooling). "
               "Every other kernel approaches it as its width grows."},
    KernelText{
        "boxcar", "1 if |u| < 1, else 0",
        "Averages the values of all keys nearer than the width. Where no key is that near, there is no estimate."},
    KernelText{"Gaussian", "exp(\u2212u\u00B2/2)",
               "Near keys count most, and every key counts a little. Its weights are softmax(\u2212u\u00B2/2): "
               "attention with the negative squared distance as score."},
    KernelText{"Epanechnikov", "\u00BE (1 \u2212 u\u00B2) if |u| < 1, else 0",
               "The parabola of the textbooks: of all kernels, it has the smallest expected error."},
    KernelText{"triangle", "1 \u2212 |u| if |u| < 1, else 0",
               "Falls linearly with the distance; d2l\u2019s chapter on attention pooling plots it under "
               "Epanechnikov\u2019s name."},
};
static_assert(texts.size() == static_cast<std::size_t>(Kernel::triangle) + 1);

// Writes K((x − x_i)/h) of every key except `left_out` (−1: of all), divided by their sum, to `weights`; returns false
// if the sum is 0.
bool weigh(const KeyedValues& known, double x, Kernel kernel, double width, int left_out, std::span<double> weights) {
  const auto counts = [&](std::size_t i) { return static_cast<int>(i) != left_out; };
  const auto u = [&](std::size_t i) { return (x - known.keys[i]) / width; };
  double nearest = INFINITY;  // u²
  for (std::size_t i = 0; i < known.size(); ++i)
    if (counts(i)) nearest = std::min(nearest, u(i) * u(i));
  double sum = 0;
  for (std::size_t i = 0; i < known.size(); ++i) {
    // For the Gaussian, subtracts the smallest exponent as in any softmax, so that not all weights underflow if no key
    // is near.
    const double of_kernel =
        kernel == Kernel::gaussian ? std::exp((nearest - u(i) * u(i)) / 2) : kernel_value(kernel, u(i));
    weights[i] = counts(i) ? of_kernel : 0;
    sum += weights[i];
  }
  if (!(sum > 0)) return false;
  for (double& weight : weights) weight /= sum;
  return true;
}

double weighted(std::span<const double> weights, std::span<const double> values) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * values[i];
  return sum;
}

}  // namespace

double clean_value(double x) {
  return 2 * std::sin(x) + x;
}

KeyedValues sample_values(int count, double noise, std::uint64_t seed) {
  NormalRandom random(seed);
  KeyedValues sample;
  for (int i = 0; i < count; ++i) sample.keys.push_back(last_key * random.uniform());
  std::ranges::sort(sample.keys);
  for (const double x : sample.keys) sample.values.push_back(clean_value(x) + noise * random.normal());
  return sample;
}

std::vector<double> regression_queries() {
  std::vector<double> queries;
  for (int i = 0; i < 50; ++i) queries.push_back(i / 10.0);
  return queries;
}

std::span<const KernelText> kernel_texts() {
  return texts;
}

double kernel_value(Kernel kernel, double u) {
  const double away = std::abs(u);
  switch (kernel) {
    case Kernel::constant:
      return 1;
    case Kernel::boxcar:
      return away < 1 ? 1 : 0;
    case Kernel::gaussian:
      return std::exp(-u * u / 2);
    case Kernel::epanechikov:
      return away < 1 ? 0.75 * (1 - u * u) : 0;
    case Kernel::triangle:
      return std::max(1 - away, 0.0);
  }
  return 0;
}

KernelFit kernel_fit(const KeyedValues& known, std::span<const double> queries, Kernel kernel, double width,
                     double noise) {
  KernelFit fit;
  fit.queries.assign(queries.begin(), queries.end());
  fit.weights = Matrix(static_cast<int>(queries.size()), static_cast<int>(known.size()));
  std::vector<double> clean;
  for (const double x : known.keys) clean.push_back(clean_value(x));
  std::vector<double> weights(known.size());
  for (std::size_t row = 0; row < queries.size(); ++row) {
    const bool reached = weigh(known, queries[row], kernel, width, -1, weights);
    for (std::size_t i = 0; reached && i < known.size(); ++i)
      fit.weights.at(static_cast<int>(row), static_cast<int>(i)) = static_cast<float>(weights[i]);
    fit.estimates.push_back(reached ? weighted(weights, known.values) : nothing);
    fit.bias.push_back(reached ? weighted(weights, clean) - clean_value(queries[row]) : nothing);
    fit.deviation.push_back(reached ? noise * std::sqrt(weighted(weights, weights)) : nothing);
  }
  return fit;
}

FitError fit_error(const KernelFit& fit) {
  FitError error;
  for (std::size_t row = 0; row < fit.queries.size(); ++row) {
    if (std::isnan(fit.estimates[row])) {
      ++error.without;
      continue;
    }
    error.clean += std::pow(fit.estimates[row] - clean_value(fit.queries[row]), 2);
    error.squared_bias += std::pow(fit.bias[row], 2);
    error.variance += std::pow(fit.deviation[row], 2);
  }
  const auto count = static_cast<double>(fit.queries.size() - error.without);  // 0 gives 0/0 = NaN
  for (double* sum : {&error.clean, &error.squared_bias, &error.variance}) *sum /= count;
  return error;
}

double left_out_error(const KeyedValues& known, Kernel kernel, double width) {
  double sum = 0;
  int count = 0;
  std::vector<double> weights(known.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!weigh(known, known.keys[i], kernel, width, static_cast<int>(i), weights)) continue;
    sum += std::pow(weighted(weights, known.values) - known.values[i], 2);
    ++count;
  }
  return sum / count;
}

}  // namespace attnscope
