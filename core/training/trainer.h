// The training loop. Everything about step n (batches, dropout, learning rate) is a function of the seed and n, so a
// run resumed from weights, moments and n continues exactly as if it had never been interrupted.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "config/config.h"
#include "messages/callbacks.h"
#include "messages/metric_point.h"
#include "model/model.h"
#include "training/adam.h"
#include "training/batch_source.h"
#include "training/distributed/ranks.h"

namespace attnscope {

class Trainer {
 public:
  // The model must be on its device, and is owned by the trainer from here on. The data set must contain a pair, or a
  // stream of two tokens. On the CPU each thread of the current thread pool takes a part of every batch. With `ranks`,
  // which must have met, all ranks train one model, each on its share of every batch; all must call the same methods in
  // the same order. Rank 0's weights are broadcast.
  Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset,
          std::shared_ptr<Ranks> ranks = nullptr);

  // Performs one step without validation. `yield` is called between its phases. Throws NotFinite and LostRank; the
  // weights are then those before the step.
  MetricPoint step(const YieldCallback& yield);

  // After a step: true if validation is due.
  bool validation_due() const;

  // Adds the validation loss of `watched`, a frozen model with the trainer's weights, to the step's point.
  void validate(SequenceModel& watched, MetricPoint& point, const YieldCallback& yield) const;

  // Applies the live fields.
  void adjust(const Config& config);

  std::int64_t steps_done() const { return step_; }
  void set_steps_done(std::int64_t step) { step_ = step; }
  SequenceModel& model() { return *models_.front(); }
  Adam& optimizer() { return optimizer_; }

 private:
  // The accumulation_steps batches of the coming step, by batch and part.
  std::vector<std::vector<Batch>> next_batches();
  // The decoder's input for batch `number`, according to training.teacher_forcing.
  torch::Tensor decoder_input(SequenceModel& model, const Batch& batch, const Memory& memory,
                              std::int64_t number) const;
  // Adds `share` times the gradient of the part's mean loss to model `part`'s gradient, and returns that loss: one
  // float64.
  torch::Tensor add_gradient(const Batch& batch, std::int64_t number, int part, double share,
                             const YieldCallback& yield);
  // The results of a step's computation, except the gradient.
  struct Computed {
    std::int64_t targets = 0;  // number of targets that the loss is averaged over
    std::int64_t tokens = 0;
    torch::Tensor loss;  // one float64, on the device that computed it
  };
  // Computes the gradient of the whole coming step with all models in parallel.
  Computed compute_gradients(const YieldCallback& yield);
  std::string what_is_not_finite();  // of the coming step
  // Averages loss and gradient over the targets of all ranks. Returns the gradient's norm.
  double average_over_ranks(Computed& computed);
  struct Updated {
    std::int64_t tokens = 0;
    double loss = 0, gradient_norm = 0;
  };
  Updated update(double learning_rate, double weight_decay, const YieldCallback& yield);
  // The same on a device without synchronization: the device decides whether the numbers are finite, and they are read
  // while it computes the next step's gradient.
  Updated update_unread(double learning_rate, double weight_decay, const YieldCallback& yield);

  Config config_;
  std::shared_ptr<const Dataset> dataset_;
  std::shared_ptr<Ranks> ranks_;  // null: training without ranks
  std::vector<Model> models_;     // one per thread, with shared parameters and separate gradients
  Adam optimizer_;
  std::int64_t step_ = 0;
  BatchSource batches_;
  std::optional<Computed> begun_;  // of the coming step, if its gradient is already being computed
};

}  // namespace attnscope
