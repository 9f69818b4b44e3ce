// The memory span of the units of a recurrent layer.
#pragma once

#include <vector>

#include "messages/recurrent_states.h"

namespace attnscope {

// The share of a unit's state that survives one step on the direct path between states, 0…1. It is the geometric mean
// over steps of the LSTM's forget gate (∂c_t/∂c_{t−1}) or the GRU's update gate z (∂h_t/∂h_{t−1}). An RNN has no such
// path: the correlation of h with the previous h, if positive.
double kept_share(const RecurrentStates& inspection, int unit);

// Returns the number of steps until half is left at that share per step: ln 2 / −ln(share).
double half_life(double share);

// Returns all units, longest memory first.
std::vector<int> by_memory(const RecurrentStates& inspection);

}  // namespace attnscope
