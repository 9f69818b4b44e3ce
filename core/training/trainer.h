// One optimizer update after another. Everything about update n is a function of the seed and n (its batches, their
// dropout, its learning rate), so a run resumed from weights, moments and n goes on exactly as if never interrupted.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/config.h"
#include "training/adam.h"
#include "training/batch_source.h"

namespace attnscope {

class Trainer {
 public:
  // The model must be on its device, and belongs to the trainer alone from here on. There must be something to train
  // on: a pair, or a stream of two pieces. On the CPU each thread of the present
  // team takes its part of every batch.
  Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset);

  // One update; no validation. `breathe` is called between its phases. Throws NotFinite.
  MetricPoint step(const Breath& breathe);

  // After an update: true if it is one that validates.
  bool validation_due() const;

  // Adds the validation loss of `watched`, which stands still with the trainer's weights, to the update's point.
  void validate(SequenceModel& watched, MetricPoint& point, const Breath& breathe) const;

  // Takes over the live fields.
  void adjust(const Config& config);

  std::int64_t steps_done() const { return step_; }
  void set_steps_done(std::int64_t step) { step_ = step; }
  SequenceModel& model() { return *models_.front(); }
  Adam& optimizer() { return optimizer_; }

 private:
  // The parts of the accumulation_steps batches of the coming update, by batch and part.
  std::vector<std::vector<Batch>> next_batches();
  // What the decoder is given in batch `number`, by training.teacher_forcing.
  torch::Tensor decoder_input(SequenceModel& model, const Batch& batch, const Memory& memory,
                              std::int64_t number) const;
  // Adds `share` of the gradient of the part's mean loss to model `part`'s, and returns that loss.
  double add_gradient(const Batch& batch, std::int64_t number, int part, double share, const Breath& breathe);
  // The loss of the update, whose gradients are made by all models at once.
  double add_gradients(const std::vector<std::vector<Batch>>& batches, const Breath& breathe);

  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::vector<Model> models_;  // one a thread, with the same parameters and gradients of their own
  Adam optimizer_;
  std::int64_t step_ = 0;
  BatchSource batches_;
};

}  // namespace attnscope
