#include "training/trainer.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <utility>

#include "common/free_memory.h"
#include "config/schedule.h"
#include "messages/metrics.h"
#include "model/activations.h"
#include "model/kernels/async_readback.h"
#include "model/kernels/backend.h"
#include "model/kernels/dropout.h"
#include "model/kernels/precision.h"
#include "model/kernels/thread_pool.h"
#include "model/kernels/yielding.h"
#include "training/teacher_forcing.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Measures the time spent in the yield callback, which counts as the window's time, not the trainer's. Inspections in
// the callback are computed in float32.
class TimedYield {
 public:
  TimedYield(const YieldCallback& yield, torch::Device device) : yield_(yield), device_(device) {}

  void operator()() {
    const auto begin = Clock::now();
    const kernels::PrecisionScope exact(kernels::Precision::float32, device_);
    if (yield_) yield_();
    seconds_ += seconds_since(begin);
  }

  double seconds() const { return seconds_; }

 private:
  const YieldCallback& yield_;
  torch::Device device_;
  double seconds_ = 0;
};

// Weights are checked before values computed from them.
std::string what_is_not_finite(SequenceModel& model, const Batch& batch) {
  const auto is_broken = [](const torch::Tensor& tensor) {
    return tensor.defined() && !torch::isfinite(tensor).all().item<bool>();
  };
  for (const auto& item : model.named_parameters())
    if (is_broken(item.value())) return "the weight " + item.key();
  model.eval();
  const std::string activation = overflowing(model, batch.source, batch.target_in);
  model.train();
  if (!activation.empty()) return activation;
  for (const auto& item : model.named_parameters())
    if (is_broken(item.value().grad())) return "the gradient of " + item.key();
  return "the loss";
}

kernels::Precision precision_of(const TrainingConfig& training) {
  return training.precision == "bfloat16" ? kernels::Precision::bfloat16 : kernels::Precision::float32;
}

// The number of a batch part selects its dropout; no two threads of any rank share one.
constexpr int largest_pool = 256;

// Ranks sum numbers in host memory, wherever they are computed.
void sum_over_ranks(Ranks& ranks, const torch::Tensor& flat) {
  const torch::NoGradGuard no_gradients;
  const torch::Tensor host = flat.cpu();  // the same tensor if already on the CPU
  ranks.sum(std::span(host.data_ptr<float>(), static_cast<std::size_t>(host.numel())));
  flat.copy_(host);
}

}  // namespace

Trainer::Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset,
                 std::shared_ptr<Ranks> ranks)
    : config_(config),
      dataset_(std::move(dataset)),
      ranks_(std::move(ranks)),
      models_{std::move(model)},
      optimizer_(*models_.front(), config.training.beta2),
      batches_(config, dataset_, ranks_ ? ranks_->rank() : 0, ranks_ ? ranks_->size() : 1) {
  keep_freed_memory();
  const int num_parts = optimizer_.device().is_cpu() ? kernels::pool()->size() : 1;
  while (static_cast<int>(models_.size()) < num_parts) {
    optimizer_.share_with(*models_.emplace_back(make_model(config_.model, models_.front()->vocab_size())));
  }
  for (const Model& each : models_) {
    each->train();
    each->set_recompute(config.training.recompute);
  }
  if (!ranks_) return;
  // The same seed does not give the same weights on every processor.
  if (!ranks_->is_first()) optimizer_.parameters().zero_();
  sum_over_ranks(*ranks_, optimizer_.parameters());
}

std::vector<std::vector<Batch>> Trainer::next_batches() {
  const std::int64_t count = config_.training.accumulation_steps;
  const auto num_parts = static_cast<std::int64_t>(models_.size());
  std::vector<std::vector<Batch>> batches;
  for (std::int64_t i = 0; i < count; ++i)
    batches.push_back(batches_.parts(step_ * count + i, num_parts, optimizer_.device()));
  return batches;
}

torch::Tensor Trainer::decoder_input(SequenceModel& model, const Batch& batch, const Memory& memory,
                                     std::int64_t number) const {
  if (!memory.states.defined() || !model.config().has_decoder()) return batch.target_in;
  // All parts of a batch use the same scheduled-sampling positions.
  const Random random(static_cast<std::int64_t>(lot(fmt::format("batch {}", number), config_.training.seed)));
  return scheduled_sampling_inputs(model, batch.target_in, memory, config_.training.teacher_forcing, random);
}

torch::Tensor Trainer::add_gradient(const Batch& batch, std::int64_t number, int part, double share,
                                    const YieldCallback& yield) {
  SequenceModel& model = *models_[part];
  model.set_packs(config_.training.teacher_forcing >= 1);  // scheduled sampling needs the padded memory
  const int first_part = ranks_ ? ranks_->rank() * largest_pool : 0;
  const kernels::DropoutScope dropout(config_.training.seed, number, first_part + part, 0, model.device());
  const kernels::PrecisionScope precision(precision_of(config_.training), model.device());
  const kernels::Yielding yielding(yield);
  const Memory memory = batch.source.defined() ? model.encode(batch.source, batch.source_padding) : Memory();
  const torch::Tensor loss = model.loss(model.decode(decoder_input(model, batch, memory, number), memory),
                                        batch.target_out, config_.training.label_smoothing);
  if (yield) yield();
  loss.backward(torch::full_like(loss, share));
  if (yield) yield();
  return loss.detach().to(torch::kFloat64);
}

Trainer::Computed Trainer::compute_gradients(const YieldCallback& yield) {
  const std::vector<std::vector<Batch>> batches = next_batches();
  if (yield) yield();
  optimizer_.zero_gradients();
  Computed computed;
  for (const auto& parts : batches) {
    for (const Batch& batch : parts) {
      computed.targets += batch.targets;
      computed.tokens += batch.tokens;
    }
  }
  std::vector<torch::Tensor> losses(models_.size(), torch::zeros({}, torch::kFloat64));
  kernels::pool()->run(static_cast<int>(models_.size()), [&](int part) {
    for (std::size_t i = 0; i < batches.size(); ++i) {
      if (static_cast<std::size_t>(part) >= batches[i].size()) continue;
      const Batch& batch = batches[i][part];
      // The mean over all targets of the step: accumulated small batches give the same result as one large batch.
      const double share = static_cast<double>(batch.targets) / static_cast<double>(computed.targets);
      const auto number = step_ * static_cast<std::int64_t>(batches.size()) + static_cast<std::int64_t>(i);
      // Only the caller's thread may yield, because the callback serves the window.
      losses[part] =
          losses[part] + share * add_gradient(batch, number, part, share, part == 0 ? yield : YieldCallback());
    }
  });
  computed.loss = std::accumulate(losses.begin() + 1, losses.end(), losses.front());
  return computed;
}

double Trainer::average_over_ranks(Computed& computed) {
  const auto targets = static_cast<double>(computed.targets);
  std::array<double, 3> sums{targets, targets * computed.loss.item<double>(), static_cast<double>(computed.tokens)};
  ranks_->sum(sums);
  computed.targets = static_cast<std::int64_t>(sums[0]);
  computed.loss = torch::full({}, sums[1] / sums[0], torch::kFloat64);
  computed.tokens = static_cast<std::int64_t>(sums[2]);
  optimizer_.gradient().mul_(targets / sums[0]);
  sum_over_ranks(*ranks_, optimizer_.gradient());
  return optimizer_.gather_gradients();  // the sharing modules' gradients are already added, and 0
}

std::string Trainer::what_is_not_finite() {
  return attnscope::what_is_not_finite(*models_.front(), next_batches().front().front());
}

Trainer::Updated Trainer::update(double learning_rate, double weight_decay, const YieldCallback& yield) {
  Computed computed = compute_gradients(yield);
  double gradient_norm = optimizer_.gather_gradients();
  if (ranks_) gradient_norm = average_over_ranks(computed);
  const double loss = computed.loss.item<double>();
  if (!std::isfinite(loss) || !std::isfinite(gradient_norm)) throw NotFinite(what_is_not_finite());
  const double clip_norm = config_.training.clip_norm;
  const bool clips = clip_norm > 0 && gradient_norm > clip_norm;
  optimizer_.update(learning_rate, weight_decay, clips ? clip_norm / gradient_norm : 1);
  ++step_;
  return {computed.tokens, loss, gradient_norm};
}

Trainer::Updated Trainer::update_unread(double learning_rate, double weight_decay, const YieldCallback& yield) {
  if (!begun_) begun_ = compute_gradients(yield);
  const Computed computed = *std::exchange(begun_, std::nullopt);
  const kernels::AsyncReadback numbers(
      optimizer_.update_if_finite(learning_rate, weight_decay, config_.training.clip_norm, computed.loss));
  ++step_;
  try {
    begun_ = compute_gradients({});
  } catch (const std::exception&) {
    begun_.reset();  // the next step tries again and reports the error
  }
  const std::vector<double> loss_and_norm = numbers.wait();
  if (yield) yield();
  if (std::isfinite(loss_and_norm[0]) && std::isfinite(loss_and_norm[1]))
    return {computed.tokens, loss_and_norm[0], loss_and_norm[1]};
  --step_;
  optimizer_.take_back();
  begun_.reset();
  compute_gradients({});  // again, to find out what is not finite
  throw NotFinite(what_is_not_finite());
}

MetricPoint Trainer::step(const YieldCallback& yield_callback) {
  const auto begin = Clock::now();
  const torch::AutoGradMode with_gradients(true);  // a study, which needs none, may let a step be taken meanwhile
  TimedYield yield(yield_callback, optimizer_.device());
  const TrainingConfig& training = config_.training;
  const double learning_rate = learning_rate_at(training, config_.model.d_model, step_ + 1);
  const double weight_decay = training.optimizer == "adamw" ? training.weight_decay : 0;
  const bool unread = !ranks_ && !kernels::is_fused(optimizer_.parameters());
  const Updated updated = unread ? update_unread(learning_rate, weight_decay, std::ref(yield))
                                 : update(learning_rate, weight_decay, std::ref(yield));
  MetricPoint point;
  point.step = step_;
  point.set(metric("loss"), updated.loss);
  point.set(metric("learning_rate"), learning_rate);
  point.set(metric("gradient_norm"), updated.gradient_norm);
  point.set(metric("tokens_per_second"),
            static_cast<double>(updated.tokens) / (seconds_since(begin) - yield.seconds()));
  return point;
}

bool Trainer::validation_due() const {
  return step_ % config_.training.validation_interval == 0 && dataset_->can_validate();
}

void Trainer::validate(SequenceModel& watched, MetricPoint& point, const YieldCallback& yield) const {
  const NegativeLogLikelihood loss =
      attnscope::validate(watched, *dataset_, config_.training.batch_size, yield, ranks_.get());
  point.set(metric("validation_nll"), loss.per_token());
  if (config_.training.label_smoothing > 0 || config_.model.dropout > 0) {
    const NegativeLogLikelihood plain =
        attnscope::validate(watched, *dataset_, config_.training.batch_size, yield, ranks_.get(), Part::train);
    if (plain.tokens > 0) point.set(metric("train_nll"), plain.per_token());
  }
  if (config_.model.is_masked_lm()) point.set(metric("validation_accuracy"), loss.accuracy());
  const Accuracies shares = accuracies(watched, *dataset_, config_.training.batch_size, yield);
  if (shares.training) point.set(metric("accuracy"), *shares.training);
  if (shares.validation) point.set(metric("validation_accuracy"), *shares.validation);
}

void Trainer::adjust(const Config& config) {
  config_ = with_live_fields(config_, config);
  for (const Model& model : models_) model->set_dropout(config_.model.dropout);
}

}  // namespace attnscope
