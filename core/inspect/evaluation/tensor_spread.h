// The distribution of the values of a model's tensors and gradients, step by step.
#pragma once

#include <memory>
#include <optional>

#include "data/tokenizer/tokenizer.h"
#include "inspect/probe/written_step.h"
#include "messages/callbacks.h"
#include "messages/tensor_spread.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"
#include "training/adam.h"
#include "training/batches.h"

namespace attnscope {

// Accepts any shape and device.
TensorSpread spread_of(const torch::Tensor& tensor);

// ∂L/∂w of every parameter, in their order; L is the mean loss of the batch, without dropout and label smoothing. The
// model is frozen before and after the call.
std::vector<torch::Tensor> parameter_gradients(SequenceModel& model, const Batch& batch);

// Collects results for the same model at several steps, in ascending order. The current weights come last.
class TensorsCollector {
 public:
  // `batch`: null for no gradients. `present` generates the sentence's output, which is then used at every step.
  TensorsCollector(SequenceModel& present, const Tokenizer& tokenizer, const TensorsQuestion& question,
                   std::optional<Batch> batch, const YieldCallback& yield);

  void add(SequenceModel& model, std::int64_t step, const YieldCallback& yield);

  // Adds the size of the optimizer's newest step; does nothing before the first step.
  void add_last_update(Adam& optimizer, double learning_rate);

  TensorsResult take() { return std::move(inspection_); }

 private:
  void add_parameters(SequenceModel& model, std::int64_t step, const YieldCallback& yield);
  void add_activations(SequenceModel& model, std::int64_t step);
  void add_activation(const std::string& name, const torch::Tensor& value, std::int64_t step);

  TensorsResult inspection_;
  std::optional<Batch> batch_;
  WrittenStep sentence_;
  std::vector<torch::Tensor> before_;  // the parameters of the previous point
};

}  // namespace attnscope
