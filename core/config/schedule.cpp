#include "config/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attnscope {
namespace {

double noam(const TrainingConfig& training, std::int64_t d_model, std::int64_t step) {
  const double s = static_cast<double>(step);
  const double w = static_cast<double>(training.warmup_steps);
  return training.noam_factor * std::pow(static_cast<double>(d_model), -0.5) *
         std::min(std::pow(s, -0.5), s * std::pow(w, -1.5));
}

// The rate after warm-up; the remaining steps are half a period of the cosine.
double cosine(const TrainingConfig& training, std::int64_t step) {
  if (step >= training.steps) return training.min_learning_rate;
  const double progress =
      static_cast<double>(step - training.warmup_steps) / static_cast<double>(training.steps - training.warmup_steps);
  const double share = (1 + std::cos(std::numbers::pi * progress)) / 2;
  return training.min_learning_rate + share * (training.learning_rate - training.min_learning_rate);
}

}  // namespace

double learning_rate_at(const TrainingConfig& training, std::int64_t d_model, std::int64_t step) {
  if (training.schedule == "noam") return noam(training, d_model, step);
  if (step <= training.warmup_steps) {
    return training.learning_rate * static_cast<double>(step) / static_cast<double>(training.warmup_steps);
  }
  return training.schedule == "cosine" ? cosine(training, step) : training.learning_rate;
}

}  // namespace attnscope
