#include "inspect/evaluation/tensor_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "config/architecture.h"
#include "inspect/probe/tensors.h"
#include "model/activations.h"

namespace attnscope {
namespace {

constexpr std::int64_t bins = 41;  // odd, so that one bin is centered

// Enables the parameters' gradients of a frozen model.
class WithGradients {
 public:
  explicit WithGradients(SequenceModel& model) : parameters_(model.parameters()) {
    for (torch::Tensor& parameter : parameters_) parameter.requires_grad_(true);
  }
  ~WithGradients() {
    for (torch::Tensor& parameter : parameters_) {
      parameter.requires_grad_(false);
      parameter.mutable_grad() = torch::Tensor();
    }
  }
  WithGradients(const WithGradients&) = delete;
  WithGradients& operator=(const WithGradients&) = delete;

  std::vector<torch::Tensor> take() {
    std::vector<torch::Tensor> gradients;
    for (const torch::Tensor& parameter : parameters_)
      gradients.push_back(parameter.grad().defined() ? parameter.grad().clone()
                                                     : torch::zeros_like(parameter.detach()));
    return gradients;
  }

 private:
  std::vector<torch::Tensor> parameters_;
};

double norm_of(const torch::Tensor& tensor) {
  return tensor.to(torch::kFloat64).norm().item<double>();
}

}  // namespace

TensorSpread spread_of(const torch::Tensor& tensor) {
  const torch::NoGradGuard no_grad;
  TensorSpread spread{.count = tensor.numel()};
  if (spread.count == 0) return spread;
  const torch::Tensor all = tensor.detach().to(torch::kCPU, torch::kFloat64).contiguous();
  const auto share = [&](const torch::Tensor& mask) {
    return static_cast<double>(mask.sum().item<std::int64_t>()) / static_cast<double>(mask.numel());
  };
  spread.norm = all.norm().item<double>();
  spread.zeros = share(all == 0);
  spread.not_finite = share(all.isfinite().logical_not());
  spread.silent = share((all.reshape({-1, all.dim() == 0 ? 1 : all.size(-1)}) == 0).all(0));
  const torch::Tensor sorted = std::get<0>(all.masked_select(all.isfinite()).sort());
  const std::int64_t finite = sorted.numel();
  if (finite == 0) return spread;
  spread.mean = sorted.mean().item<double>();
  const double* const values = sorted.data_ptr<double>();
  // Linear interpolation, as in torch::quantile.
  for (std::size_t i = 0; i < spread_levels.size(); ++i) {
    const double at = spread_levels[i] * static_cast<double>(finite - 1);
    const auto below = static_cast<std::int64_t>(at);
    const double above = values[std::min(below + 1, finite - 1)];
    spread.quantiles[i] = values[below] + (at - static_cast<double>(below)) * (above - values[below]);
  }
  spread.histogram.resize(bins);
  const double width = (spread.largest() - spread.least()) / static_cast<double>(bins);
  for (std::int64_t i = 0; i < finite; ++i) {
    const auto bin = width > 0 ? static_cast<std::int64_t>((values[i] - spread.least()) / width) : bins / 2;
    ++spread.histogram[static_cast<std::size_t>(std::min(bin, bins - 1))];
  }
  return spread;
}

std::vector<torch::Tensor> parameter_gradients(SequenceModel& model, const Batch& batch) {
  model.check_standing_still();
  const torch::AutoGradMode with_graph(true);
  WithGradients gradients(model);
  const Memory memory = batch.source.defined() ? model.encode(batch.source, batch.source_padding) : Memory();
  model.loss(model.decode(batch.target_in, memory), batch.target_out, 0).backward();
  return gradients.take();
}

TensorsCollector::TensorsCollector(SequenceModel& present, const Tokenizer& tokenizer, const TensorsQuestion& question,
                                   std::optional<Batch> batch, const YieldCallback& yield)
    : inspection_{.question = question}, batch_(std::move(batch)) {
  if (batch_) {
    inspection_.gradient_rows = batch_->target_in.size(0);
    inspection_.gradient_tokens = batch_->targets;
  }
  if (!question.text.empty()) sentence_ = written_step(present, tokenizer, question.text, -1, yield);
}

void TensorsCollector::add(SequenceModel& model, std::int64_t step, const YieldCallback& yield) {
  add_parameters(model, step, yield);
  if (!sentence_.written.empty()) add_activations(model, step);
}

void TensorsCollector::add_parameters(SequenceModel& model, std::int64_t step, const YieldCallback& yield) {
  const auto named = model.named_parameters();
  const std::vector<torch::Tensor> gradients =
      batch_ ? parameter_gradients(model, *batch_) : std::vector<torch::Tensor>();
  if (inspection_.parameters.empty())
    for (const auto& item : named) inspection_.parameters.push_back({item.key(), item.value().sizes().vec()});
  for (std::size_t i = 0; i < inspection_.parameters.size(); ++i) {
    const torch::Tensor& value = named[i].value();
    std::vector<TensorPoint>& points = inspection_.parameters[i].points;
    TensorPoint point{.step = step, .values = spread_of(value)};
    if (batch_) point.gradient = spread_of(gradients[i]);
    if (!points.empty() && step > points.back().step && points.back().values.norm > 0)
      point.change = norm_of(value.detach() - before_[i]) /
                     (points.back().values.norm * static_cast<double>(step - points.back().step));
    points.push_back(std::move(point));
    if (yield) yield();
  }
  before_.clear();
  for (const auto& item : named) before_.push_back(item.value().detach().clone());
}

// In the order of the pass: the first step defines the names, and later steps have the same.
void TensorsCollector::add_activation(const std::string& name, const torch::Tensor& value, std::int64_t step) {
  const auto found = std::ranges::find(inspection_.activations, name, &TensorHistory::name);
  TensorHistory& history = found == inspection_.activations.end()
                               ? inspection_.activations.emplace_back(TensorHistory{name, value.sizes().vec()})
                               : *found;
  history.points.push_back({.step = step, .values = spread_of(value)});
}

void TensorsCollector::add_activations(SequenceModel& model, std::int64_t step) {
  const torch::Tensor source =
      sentence_.source.empty() ? torch::Tensor() : ids_tensor(ids_of(sentence_.source), model.device());
  visit_activations(model, source, ids_tensor(ids_of(sentence_.read), model.device()),
                    [&](const std::string& name, const torch::Tensor& value) { add_activation(name, value[0], step); });
}

void TensorsCollector::add_last_update(Adam& optimizer, double learning_rate) {
  if (optimizer.updates() == 0) return;
  const std::vector<double> norms = optimizer.last_update_norms(learning_rate);
  for (std::size_t i = 0; i < inspection_.parameters.size(); ++i) {
    TensorHistory& history = inspection_.parameters[i];
    if (history.points.back().values.norm > 0) history.last_update = norms[i] / history.points.back().values.norm;
  }
}

}  // namespace attnscope
