// How fast to learn: the learning rate of every update, a pure function of its number.
#pragma once

#include <cstdint>

#include "plain/config.h"

namespace attnscope {

// The rate of update `step`, counted from 1, on the schedule that the configuration names:
//   noam (§5.3)  noam_factor · D^-0.5 · min(s^-0.5, s · w^-1.5)
//   cosine       from learning_rate at the end of the warm-up along half a cosine to min_learning_rate at the last of
//                training.steps, and there it stays (SGDR without restarts, arXiv 1608.03983)
//   constant     learning_rate
// The last two rise linearly through the warm-up: update s of w has s/w of learning_rate.
double learning_rate_at(const TrainingConfig& training, std::int64_t d_model, std::int64_t step);

}  // namespace attnscope
