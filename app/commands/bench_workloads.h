// What training is measured on.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plain/config.h"

namespace attnscope {

struct Dataset;

// What is trained on, and how.
struct Workload {
  std::string name;
  Config config;  // training.device: where it computes
  std::int64_t vocab_size = 0;
  std::shared_ptr<const Dataset> dataset;
};

// The tiny and the small configuration that everyone measures with, and the run in the folder `run` with its pairs as
// they meet by default and those of like length; then, where there is a GPU, the tiny, the small and the base one on
// it, in float32 and in bfloat16.
std::vector<Workload> training_workloads(const std::string& run);

}  // namespace attnscope
