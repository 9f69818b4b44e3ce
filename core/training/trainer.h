// One optimizer update after another. Everything about update n is a function of the seed and n (its batches, their
// dropout, its learning rate), so a run resumed from weights, moments and n goes on exactly as if never interrupted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "distributed/ranks.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/config.h"
#include "training/adam.h"
#include "training/batch_source.h"

namespace attnscope {

class Trainer {
 public:
  // The model must be on its device, and belongs to the trainer alone from here on. There must be something to train
  // on: a pair, or a stream of two pieces. On the CPU each thread of the present team takes its part of every batch.
  // With `ranks`, which have met, all of them train one model, each on its share of every batch: what they are called
  // for is done by all in the same order. Rank 0's weights become everyone's.
  Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset,
          std::shared_ptr<Ranks> ranks = nullptr);

  // One update; no validation. `breathe` is called between its phases. Throws NotFinite, and LostRank; the weights are
  // then those before it.
  MetricPoint step(const YieldCallback& yield);

  // After an update: true if it is one that validates.
  bool validation_due() const;

  // Adds the validation loss of `watched`, which stands still with the trainer's weights, to the update's point.
  void validate(SequenceModel& watched, MetricPoint& point, const YieldCallback& yield) const;

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
  // Adds `share` of the gradient of the part's mean loss to model `part`'s, and returns that loss: one float64.
  torch::Tensor add_gradient(const Batch& batch, std::int64_t number, int part, double share,
                             const YieldCallback& yield);
  // What an update has computed, besides its gradient.
  struct Computed {
    std::int64_t targets = 0;  // what the loss is the mean of
    std::int64_t tokens = 0;
    torch::Tensor loss;  // one float64, where it was computed
  };
  // Of the whole coming update, by all models at once.
  Computed compute_gradients(const YieldCallback& yield);
  // Loss and gradient become the means over the targets of all ranks. Returns the gradient's norm.
  double average_over_ranks(Computed& computed);
  struct Updated {
    std::int64_t tokens = 0;
    double loss = 0, gradient_norm = 0;
  };
  Updated update(double learning_rate, double weight_decay, const YieldCallback& yield);
  // The same on a device that is never waited for: whether the numbers are finite is decided there, and they are read
  // while it computes the gradient of the update after.
  Updated update_unread(double learning_rate, double weight_decay, const YieldCallback& yield);

  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<Ranks> ranks_;  // null: it trains alone
  std::vector<Model> models_;     // one a thread, with the same parameters and gradients of their own
  Adam optimizer_;
  std::int64_t step_ = 0;
  BatchSource batches_;
  std::optional<Computed> begun_;  // of the coming update, where its gradient has been asked for already
};

}  // namespace attnscope
