// A model to be looked at while another one, with the same parameters, is trained.
#pragma once

#include <cstdint>
#include <memory>

#include "model/model.h"
#include "training/trainer.h"

namespace attnscope {

// Weights that stand still, and the number of updates they have had: handed out together, so that nobody can pair them
// wrongly. Whoever holds one sees the same weights until he lets it go.
struct WatchedModel {
  Model model;  // stands still (SequenceModel::freeze)
  std::int64_t step = 0;
};

// Models of the same parameters. What is computed instead of learned, as sinusoids, each has of itself.
void copy_weights(const SequenceModel& from, SequenceModel& to);

// With random weights; its parameters' initial values are drawn from torch's generator.
std::shared_ptr<WatchedModel> make_watched(const ModelConfig& config, std::int64_t vocab_size, torch::Device device);

// A model of its own with these weights, to be trained.
Model trainable_copy(SequenceModel& model);

// Another such model, to be given weights of its own.
std::shared_ptr<WatchedModel> another_like(const WatchedModel& watched);

// The trainer's present weights: `last` itself if it has them already, or if nobody but the caller holds it; else
// another.
std::shared_ptr<WatchedModel> brought_up_to(Trainer& trainer, const std::shared_ptr<WatchedModel>& last);

}  // namespace attnscope
