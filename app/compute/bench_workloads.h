// The workloads of the training benchmark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"

namespace attnscope {

struct Dataset;

// A data set and a configuration.
struct Workload {
  std::string name;
  Config config;  // training.device: the device used
  std::int64_t vocab_size = 0;
  std::shared_ptr<const Dataset> dataset;
};

// The standard tiny and small configurations, and the run in the folder `run` with its batches in default order and
// sorted by length. With a GPU, also the tiny, small and base configurations on it, in float32 and bfloat16.
std::vector<Workload> training_workloads(const std::string& run);

}  // namespace attnscope
