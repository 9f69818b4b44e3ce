#include "training/decoding/stepper.h"

#include <algorithm>
#include <utility>

#include "data/tokenizer/tokenizer.h"
#include "model/inspection.h"

namespace attnscope {
namespace {

void select_rows(torch::Tensor& tensor, const torch::Tensor& rows) {
  if (tensor.defined()) tensor = tensor.index_select(0, rows);
}

void select_rows(Memory& memory, const torch::Tensor& rows) {
  select_rows(memory.states, rows);
  select_rows(memory.padding, rows);
  for (torch::Tensor& state : memory.last) select_rows(state, rows);
}

}  // namespace

Stepper::Stepper(SequenceModel& model, const torch::Tensor& source, const torch::Tensor& padding, YieldCallback yield,
                 const Interventions* interventions)
    : model_(model), yield_(std::move(yield)), interventions_(interventions), sources_(torch::arange(source.size(0))) {
  model.check_standing_still();
  if (model.config().is_language_model()) {
    begin_ = source.cpu();
    context_ = begin_.slice(1, 0, 0);
  } else {
    begin_ = torch::full({source.size(0), 1}, model.config().special().start, torch::kInt64);
    Inspection inspection{.interventions = interventions_};
    memory_ = model.encode(source, padding, interventions_ ? &inspection : nullptr);
  }
}

torch::Tensor Stepper::advance(const torch::Tensor& rows, const torch::Tensor& tokens) {
  if (yield_) yield_();
  select(rows);
  const torch::Tensor input = context_.defined() ? make_room(tokens) : tokens;
  Inspection inspection{.interventions = interventions_};
  const torch::Tensor features =
      model_.decode(input.to(model_.device()), memory_, &cache_, interventions_ ? &inspection : nullptr);
  return model_.writable(torch::log_softmax(model_.logits(features.select(1, -1)), -1));
}

void Stepper::select(const torch::Tensor& rows) {
  if (rows.equal(torch::arange(sources_.size(0)))) return;
  const torch::Tensor sources = sources_.index_select(0, rows);
  const torch::Tensor on_device = rows.to(model_.device());
  const bool same_memory = sources.equal(sources_);  // a beam's rows were only reordered within their source
  std::vector<torch::Tensor> cross;
  if (same_memory) {
    cross.swap(cache_.cross);
  } else {
    select_rows(memory_, on_device);
  }
  cache_.select(on_device);
  if (same_memory) cross.swap(cache_.cross);
  select_rows(context_, rows);
  sources_ = sources;
}

// Appends the tokens to the context and returns the decoder's next input, trimmed so that it has positions for all.
torch::Tensor Stepper::make_room(const torch::Tensor& tokens) {
  const std::int64_t max_length = model_.config().max_length;
  context_ = torch::cat({context_, tokens}, 1);
  if (context_.size(1) <= max_length) return tokens;
  context_ = context_.slice(1, context_.size(1) - std::max<std::int64_t>(1, max_length / 2));
  cache_ = {};
  return context_;
}

}  // namespace attnscope
