#include "analysis/superposition.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attnscope {
namespace {

constexpr int batch_size = 128;
constexpr double learning_rate = 0.01;

}  // namespace

ToyModel::ToyModel(int features, std::uint64_t seed)
    : random_(seed), parameters_(static_cast<std::size_t>(features) * (toy_dimensions + 1)) {
  const std::size_t weights = static_cast<std::size_t>(features) * toy_dimensions;
  for (std::size_t i = 0; i < weights; ++i) parameters_[i] = 0.3 * random_.normal();
}

double ToyModel::step(const ToyFeatures& features) {
  const auto count = static_cast<std::size_t>(this->features());
  std::vector<double> x(count), importance(count);
  for (std::size_t i = 0; i < count; ++i) importance[i] = std::pow(features.importance, i);
  gradient_.assign(parameters_.size(), 0);
  double loss = 0;
  for (int example = 0; example < batch_size; ++example) {
    // A uniform number above the sparsity is uniform there.
    for (double& value : x) value = std::max(0.0, random_.uniform() - features.sparsity) / (1 - features.sparsity);
    loss += add_gradient(x, importance) / batch_size;
  }
  for (double& value : gradient_) value /= batch_size;
  adam_.update(parameters_, gradient_, learning_rate);
  return loss;
}

double ToyModel::add_gradient(std::span<const double> x, std::span<const double> importance) {
  const std::size_t count = x.size();
  const auto weight = [&](std::size_t feature, std::size_t k) { return feature * toy_dimensions + k; };
  std::array<double, toy_dimensions> hidden{}, of_hidden{};  // Wx, and the loss's gradient there
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < toy_dimensions; ++k) hidden[k] += parameters_[weight(i, k)] * x[i];
  double loss = 0;
  for (std::size_t i = 0; i < count; ++i) {
    double sum = parameters_[count * toy_dimensions + i];
    for (std::size_t k = 0; k < toy_dimensions; ++k) sum += parameters_[weight(i, k)] * hidden[k];
    const double error = std::max(0.0, sum) - x[i];
    loss += importance[i] * error * error;
    if (sum <= 0) continue;
    const double of_sum = 2 * importance[i] * error;
    gradient_[count * toy_dimensions + i] += of_sum;
    for (std::size_t k = 0; k < toy_dimensions; ++k) {
      gradient_[weight(i, k)] += of_sum * hidden[k];
      of_hidden[k] += of_sum * parameters_[weight(i, k)];
    }
  }
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < toy_dimensions; ++k) gradient_[weight(i, k)] += of_hidden[k] * x[i];
  return loss;
}

}  // namespace attnscope
