// How long a unit of a recurrent layer remembers.
#pragma once

#include <vector>

#include "plain/recurrent_states.h"

namespace attnscope {

// The share of what a unit holds that one step leaves of it, 0…1, by the direct way from state to state: the geometric
// mean over the steps of the LSTM's forget gate (∂c_t/∂c_{t−1}) or the GRU's update gate z (∂h_t/∂h_{t−1}). An RNN has
// no such way: the correlation of its h with the h one step earlier, where that is positive.
double kept_share(const RecurrentStates& inspection, int unit);

// After how many steps half is left of what a step keeps that share of: ln 2 / −ln(share).
double half_life(double share);

// All units, those first that remember longest.
std::vector<int> by_memory(const RecurrentStates& inspection);

}  // namespace attnscope
