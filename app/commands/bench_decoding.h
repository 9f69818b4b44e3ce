// Decoding with the key-value cache against decoding without it.
#pragma once

#include <vector>

#include "commands/measurement.h"

namespace attnscope {

// In turns, with the model everyone measures with; greedy and with a beam of 4.
std::vector<Measurement> measure_decoding();

// Greedy decoding of `length` pieces, with the cache or reading all anew at every step.
double decoding_milliseconds(std::int64_t length, bool cached);

}  // namespace attnscope
