#pragma once

#include <string>
#include <vector>

#include "commands/measurement.h"

namespace attnscope {

// One way to train a model that is large for its machine.
struct MemorySetting {
  std::string name;  // "training.recompute", …
  UpdateCost cost;
};

// Of a model of 6 + 6 layers: what is held while it trains as a configuration has it, and with each setting that takes
// less: accumulation_steps, recompute, precision. All make the same update but for rounding and dropout.
std::vector<MemorySetting> measure_memory();

}  // namespace attnscope
