// Training a pretrained model further.
#pragma once

#include "config/config.h"

namespace attnscope {

// Default training options for fine-tuning: a small learning rate, so that the model does not forget at once, and no
// label smoothing, so that the loss continues from its negative log likelihood.
TrainingConfig fine_tuning();

// Throws ConfigError naming the first field that prevents a model under `config` from being initialized from `origin`,
// the configuration of the run or checkpoint in config.model.from.
void check_begins_with(const Config& config, const Config& origin);

}  // namespace attnscope
