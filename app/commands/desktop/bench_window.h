#pragma once

#include <string>
#include <vector>

#include "commands/measurement.h"

namespace attnscope {

// Frames of the whole window drawn offscreen, idle and while a session trains; from a key typed to its attention on the
// screen; the longest the window waited for the worker. `run` is the run trained meanwhile.
std::vector<Measurement> measure_window(const std::string& run);

}  // namespace attnscope
