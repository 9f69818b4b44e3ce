// The toy model of superposition (Elhage et al. 2022, arXiv 2209.10652, section 2): n features in two hidden
// dimensions, x' = ReLU(WᵀWx + b), trained to reproduce x.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "analysis/adam.h"
#include "analysis/normal_random.h"

namespace attnscope {

inline constexpr std::size_t toy_dimensions = 2;

// The features: each is 0 with probability `sparsity`, otherwise uniform in 0…1.
struct ToyFeatures {
  int count = 5;
  double sparsity = 0.9;
  double importance = 1;  // of each feature relative to the one before it
};

class ToyModel {
 public:
  ToyModel(int features, std::uint64_t seed);

  // One step of Adam on a new batch. Returns the loss before it: Σᵢ importanceᵢ (xᵢ − x'ᵢ)², averaged over the batch.
  double step(const ToyFeatures& features);

  int features() const { return static_cast<int>(parameters_.size() / (toy_dimensions + 1)); }
  // The direction of a feature: a column of W.
  std::span<const double> column(int feature) const {
    return std::span(parameters_).subspan(static_cast<std::size_t>(feature) * toy_dimensions, toy_dimensions);
  }
  // The product of two columns: an element of WᵀW.
  double product(int feature, int other) const {
    return std::inner_product(column(feature).begin(), column(feature).end(), column(other).begin(), 0.0);
  }
  double bias(int feature) const {
    return parameters_[features() * toy_dimensions + static_cast<std::size_t>(feature)];
  }

 private:
  // Adds the gradient of one example's loss, and returns that loss.
  double add_gradient(std::span<const double> x, std::span<const double> importance);

  NormalRandom random_;
  std::vector<double> parameters_;  // the columns of W, then b
  std::vector<double> gradient_;
  Adam adam_;
};

}  // namespace attnscope
