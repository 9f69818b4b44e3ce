// Adam (1412.6980) on plain numbers.
#pragma once

#include <cmath>
#include <span>
#include <vector>

namespace attnscope {

class Adam {
 public:
  void update(std::vector<double>& parameters, std::span<const double> gradient, double learning_rate) {
    constexpr double of_mean = 0.9, of_square = 0.999, epsilon = 1e-8;
    mean_.resize(gradient.size());
    square_.resize(gradient.size());
    ++steps_;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      mean_[i] += (1 - of_mean) * (gradient[i] - mean_[i]);
      square_[i] += (1 - of_square) * (gradient[i] * gradient[i] - square_[i]);
      const double mean = mean_[i] / (1 - std::pow(of_mean, steps_));
      const double square = square_[i] / (1 - std::pow(of_square, steps_));
      parameters[i] -= learning_rate * mean / (std::sqrt(square) + epsilon);
    }
  }

 private:
  int steps_ = 0;
  std::vector<double> mean_, square_;
};

}  // namespace attnscope
