// A model for inspection while another one with the same parameters is trained.
#pragma once

#include <cstdint>
#include <memory>

#include "model/model.h"
#include "training/trainer.h"

namespace attnscope {

// Frozen weights with their number of training steps: handed out together, so that they cannot be mismatched. The
// weights do not change while the pointer is held.
struct WatchedModel {
  Model model;  // frozen (SequenceModel::freeze)
  std::int64_t step = 0;
};

// Both models must have the same parameters. Computed tensors, such as sinusoids, are not copied.
void copy_weights(const SequenceModel& from, SequenceModel& to);

// With random weights, initialized from torch's generator.
std::shared_ptr<WatchedModel> make_watched(const ModelConfig& config, std::int64_t vocab_size, torch::Device device);

// A separate, trainable model with these weights.
Model trainable_copy(SequenceModel& model);

// Another model of the same architecture, with uninitialized weights.
std::shared_ptr<WatchedModel> another_like(const WatchedModel& watched);

// The trainer's current weights: `last` itself if it is up to date, or if only the caller holds it; otherwise a new
// one.
std::shared_ptr<WatchedModel> brought_up_to(Trainer& trainer, const std::shared_ptr<WatchedModel>& last);

}  // namespace attnscope
