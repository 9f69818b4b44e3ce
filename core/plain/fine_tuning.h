// Training a model on that has learned already.
#pragma once

#include "plain/config.h"

namespace attnscope {

// How it is trained where nothing else is said: in small steps, so that it does not forget at once what it knows, and
// without smoothing, so that its loss goes on from its negative log likelihood.
TrainingConfig fine_tuning();

// Throws ConfigError naming the first field in which a model that `config` asks for cannot begin with the weights of
// `origin`, a run or checkpoint in the folder config.model.from.
void check_begins_with(const Config& config, const Config& origin);

}  // namespace attnscope
