// A training that another program did: a folder with a checkpoint for each of several steps (checkpoint-500/ … of
// transformers' Trainer, step1000/ … of Pythia), and what was recorded of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "messages/metric_point.h"

namespace attnscope {

struct TrainingStep {
  std::int64_t step = 0;
  std::filesystem::path folder;
};

// The checkpoints in the folder, ascending; empty if there are none. Those without weights, such as one that is still
// being saved, are left out unless all are. Never throws.
std::vector<TrainingStep> training_steps(const std::filesystem::path& folder,
                                         std::vector<TrainingStep>* left_out = nullptr);

// The step that the folder's own trainer_state.json names; `absent` if there is none.
std::int64_t training_step_of(const std::filesystem::path& folder, std::int64_t absent);

struct TrainingCurves {
  std::vector<MetricPoint> points;    // ascending
  std::vector<std::string> warnings;  // files that could not be read
};

// The history in trainer_state.json (the folder's own, or that of the last step), metrics.csv, and TensorBoard's event
// files in the folder and below it.
TrainingCurves training_curves(const std::filesystem::path& folder, const std::vector<TrainingStep>& steps);

}  // namespace attnscope
