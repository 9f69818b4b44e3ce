// One optimizer update after another. Everything about update n is a function of the seed and n (its batch, its
// dropout, its learning rate), so a run resumed from weights, moments and n goes on exactly as if never interrupted.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/config.h"
#include "training/adam.h"
#include "training/batches.h"

namespace attnscope {

// Noam (§5.3): factor · D^-0.5 · min(s^-0.5, s · w^-1.5); `step` counts from 1.
double noam_learning_rate(std::int64_t step, std::int64_t d_model, std::int64_t warmup_steps, double factor);

// The pairs of a corpus as pieces.
struct Dataset {
  std::vector<EncodedPair> train;
  std::vector<EncodedPair> validation;
  std::int64_t too_long = 0;  // pairs left out because a side exceeds max_length
};

class Trainer {
 public:
  // The model must be on its device. `dataset.train` must not be empty.
  Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset);

  // One update. `breathe` is called between its phases, when the model is whole. Throws NotFinite.
  MetricPoint step(const Breath& breathe);

  // Mean unsmoothed negative log-likelihood over some of the validation pairs, nats/token.
  double validate(const Breath& breathe);

  // Takes over the live fields.
  void adjust(const Config& config);

  std::int64_t steps_done() const { return step_; }
  void set_steps_done(std::int64_t step) { step_ = step; }
  Adam& optimizer() { return optimizer_; }

 private:
  Batch next_batch();

  Model model_;
  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  Adam optimizer_;
  std::int64_t step_ = 0;
  std::int64_t epoch_ = 0;
  std::vector<std::vector<std::int64_t>> epoch_batches_;  // of epoch_
  std::int64_t batches_an_epoch_;                         // the same in every epoch
};

}  // namespace attnscope
