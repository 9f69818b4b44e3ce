// A model as the searches ask it: what comes next, one piece a step, on top of what the cache holds.
#pragma once

#include "kernels/libtorch.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/interventions.h"

namespace attnscope {

// Many sources or prompts side by side. The model stands still (SequenceModel::freeze). `breathe` is called before
// each step.
//
// A language model whose context (max_length) is full goes on with the newest half of it, encoded anew: after that as
// many steps are cheap again. Whatever is older is forgotten, as it is when training.
class Stepper {
 public:
  // source: int64 B×S, for a language model the prompts; padding: bool B×S, true at padding, or undefined.
  // `interventions`, where given, are made to the model in every pass, and outlive the stepper.
  Stepper(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& padding, YieldCallback yield,
          const Interventions* interventions = nullptr);

  // What the first step is given, int64 B×L on the CPU: <s>, or the prompts.
  const torch::Tensor& begin() const { return begin_; }

  // Row n of this step goes on from row rows[n] (int64 N) of the last with tokens[n] (int64 N×L); before the first step
  // the rows are the sources. → the next piece's log-probabilities, N×V on the model's device.
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
  torch::Tensor sources_;  // int64 N: whose row each is
  torch::Tensor context_;  // int64 N×L on the CPU: what a language model has read; else undefined
};

}  // namespace attnscope
