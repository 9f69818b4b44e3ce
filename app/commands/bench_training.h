#pragma once

#include <string>
#include <vector>

#include "commands/measurement.h"

namespace attnscope {

// Updates of the tiny and the small configuration that everyone measures with, and of the run in the folder `run` with
// its own batches, each against torch::nn::Transformer, optim::Adam and cross_entropy doing the same in turns.
std::vector<Measurement> measure_training(const std::string& run);

}  // namespace attnscope
