#pragma once

#include <string>
#include <vector>

#include "compute/bench.h"

namespace attnscope {

// One way to reduce the memory of training.
struct MemorySetting {
  std::string name;  // "training.recompute", …
  UpdateCost cost;
};

// For a model of 6 + 6 layers: the memory while training with the default settings, and with each memory-saving
// setting: accumulation_steps, recompute, precision. All perform the same step except for rounding and dropout.
std::vector<MemorySetting> measure_memory();

}  // namespace attnscope
