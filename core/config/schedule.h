// The learning rate of every step, a pure function of its number.
#pragma once

#include <cstdint>

#include "config/config.h"

namespace attnscope {

// Returns the rate of step `step`, counted from 1, on the configured schedule:
//   noam (§5.3)  noam_factor · D^-0.5 · min(s^-0.5, s · w^-1.5)
//   cosine       from learning_rate after warm-up along half a cosine to min_learning_rate at the last of
//                training.steps, constant afterwards (SGDR without restarts, arXiv 1608.03983)
//   constant     learning_rate
// The last two rise linearly during warm-up: step s of w has s/w of learning_rate.
double learning_rate_at(const TrainingConfig& training, std::int64_t d_model, std::int64_t step);

}  // namespace attnscope
