// Steps a model for the searches: next-token log-probabilities, one token per step, using the cache.
#pragma once

#include "messages/callbacks.h"
#include "messages/interventions.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// Handles many sources or prompts in parallel. The model is frozen (SequenceModel::freeze). `yield` is called before
// each step.
//
// When the context (max_length) of a language model is full, it continues with the newest half, encoded again from
// scratch; then as many steps are cheap again. Older tokens are forgotten, as in training.
class Stepper {
 public:
  // source: int64 B×S, for a language model the prompts; padding: bool B×S, true at padding, or undefined.
  // `interventions`, if not null, apply in every pass and must outlive the stepper.
  Stepper(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& padding, YieldCallback yield,
          const Interventions* interventions = nullptr);

  // The first step's input, int64 B×L on the CPU: <s>, or the prompts.
  const torch::Tensor& begin() const { return begin_; }

  // Row n of this step extends row rows[n] (int64 N) of the previous one by tokens[n] (int64 N×L); before the first
  // step the rows are the sources. → the next token's log-probabilities, N×V on the model's device.
  torch::Tensor advance(const torch::Tensor& rows, const torch::Tensor& tokens);

 private:
  void select(const torch::Tensor& rows);
  torch::Tensor make_room(const torch::Tensor& tokens);

  SequenceModel& model_;
  YieldCallback yield_;
  const Interventions* interventions_;
  Memory memory_;
  DecoderCache cache_;
  torch::Tensor begin_;
  torch::Tensor sources_;  // int64 N: source index of each row
  torch::Tensor context_;  // int64 N×L on the CPU: the tokens so far of a language model; else undefined
};

}  // namespace attnscope
