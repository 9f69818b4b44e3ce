// Measures table 1 of the paper: one layer of each kind, forward and backward, over growing sentence lengths.
#pragma once

#include "config/config.h"
#include "messages/callbacks.h"
#include "messages/cost.h"

namespace attnscope {

// Layers with the configuration's width, heads and cell, random weights, one sentence, on the CPU. `progress` is called
// before every measurement, and may throw.
CostResult measure_costs(const ModelConfig& config, const CostQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
