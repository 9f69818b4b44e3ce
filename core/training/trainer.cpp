#include "training/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>

#include "plain/metrics.h"
#include "tokenizer/tokenizer.h"
#include "training/loss.h"
#include "training/schedule.h"
#include "training/text_batches.h"
#include "training/validation.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Counts how long was spent breathing: those seconds are the window's, not the trainer's.
class TimedBreath {
 public:
  explicit TimedBreath(const Breath& breathe) : breathe_(breathe) {}

  void operator()() {
    const auto begin = Clock::now();
    if (breathe_) breathe_();
    seconds_ += seconds_since(begin);
  }

  double seconds() const { return seconds_; }

 private:
  const Breath& breathe_;
  double seconds_ = 0;
};

}  // namespace

Trainer::Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset)
    : model_(std::move(model)),
      config_(config),
      dataset_(std::move(dataset)),
      optimizer_(*model_, config.training.beta2) {
  model_->train();
  const TrainingConfig& training = config_.training;
  if (!config_.model.is_language_model()) {
    pair_batches_.emplace(dataset_->train, BatchSize{training.batch_size, training.batch_tokens}, training.seed);
  }
}

Batch Trainer::batch(std::int64_t number) {
  if (pair_batches_) return make_batch(dataset_->train, pair_batches_->at(number), optimizer_.device());
  return window_batch(dataset_->train_stream, config_.training.batch_size, config_.model.max_length,
                      config_.training.seed, number, optimizer_.device());
}

std::vector<Batch> Trainer::next_batches() {
  const std::int64_t count = config_.training.accumulation_steps;
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < count; ++i) batches.push_back(batch(step_ * count + i));
  return batches;
}

double Trainer::add_gradient(const Batch& batch, std::int64_t number, double share, const Breath& breathe) {
  torch::manual_seed(static_cast<std::uint64_t>(config_.training.seed) << 32 | static_cast<std::uint64_t>(number));
  const Memory memory = batch.source.defined() ? model_->encode(batch.source, batch.source_padding) : Memory();
  const torch::Tensor logits = model_->logits(model_->decode(batch.target_in, memory));  // B×T×V
  const torch::Tensor loss = smoothed_cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(),
                                                    config_.training.label_smoothing, Tokenizer::pad_id);
  breathe();
  loss.backward(torch::full_like(loss, share));
  breathe();
  return loss.item<double>();
}

MetricPoint Trainer::step(const Breath& breathe_callback) {
  const auto begin = Clock::now();
  TimedBreath breathe(breathe_callback);
  const std::vector<Batch> batches = next_batches();
  std::int64_t tokens = 0;
  std::int64_t targets = 0;
  for (const Batch& batch : batches) {
    tokens += batch.tokens;
    targets += batch.targets;
  }
  breathe();

  double loss = 0;
  optimizer_.zero_gradients();
  for (std::size_t i = 0; i < batches.size(); ++i) {
    // The mean over all targets of the update: small batches count for as much as if they were one large one.
    const double share = static_cast<double>(batches[i].targets) / static_cast<double>(targets);
    const auto number = step_ * static_cast<std::int64_t>(batches.size()) + static_cast<std::int64_t>(i);
    loss += share * add_gradient(batches[i], number, share, std::ref(breathe));
  }
  const double gradient_norm = optimizer_.clip(config_.training.clip_norm);
  if (!std::isfinite(loss) || !std::isfinite(gradient_norm)) {
    throw NotFinite(fmt::format("loss {} and gradient norm {} at step {}", loss, gradient_norm, step_ + 1));
  }
  const double learning_rate = learning_rate_at(config_.training, config_.model.d_model, step_ + 1);
  optimizer_.update(learning_rate, config_.training.optimizer == "adamw" ? config_.training.weight_decay : 0);
  ++step_;

  MetricPoint point;
  point.step = step_;
  point.set(metric("loss"), loss);
  point.set(metric("learning_rate"), learning_rate);
  point.set(metric("gradient_norm"), gradient_norm);
  point.set(metric("tokens_per_second"), static_cast<double>(tokens) / (seconds_since(begin) - breathe.seconds()));
  return point;
}

bool Trainer::validation_due() const {
  return step_ % config_.training.validation_interval == 0 && dataset_->can_validate();
}

void Trainer::validate(SequenceModel& watched, MetricPoint& point, const Breath& breathe) const {
  point.set(metric("validation_nll"), attnscope::validate(watched, *dataset_, config_.training.batch_size, breathe));
}

void Trainer::adjust(const Config& config) {
  config_ = with_live_fields(config_, config);
  model_->set_dropout(config_.model.dropout);
}

}  // namespace attnscope
