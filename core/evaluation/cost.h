// The paper's table 1, measured: one layer of each kind, forward and backward, as sentences grow.
#pragma once

#include "plain/callbacks.h"
#include "plain/config.h"
#include "plain/cost.h"

namespace attnscope {

// Layers of the configuration's width, heads and cell, with random weights, over one sentence, on the CPU. `progress`
// is called before every measurement, and may throw.
CostResult measure_costs(const ModelConfig& config, const CostQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
