#include "training/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "tokenizer/tokenizer.h"
#include "training/evaluation.h"
#include "training/loss.h"

namespace attnscope {
namespace {

constexpr std::size_t most_validation_pairs = 512;  // enough for two digits, few enough not to hold up training

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

double noam_learning_rate(std::int64_t step, std::int64_t d_model, std::int64_t warmup_steps, double factor) {
  const double s = static_cast<double>(step);
  const double w = static_cast<double>(warmup_steps);
  return factor * std::pow(static_cast<double>(d_model), -0.5) * std::min(std::pow(s, -0.5), s * std::pow(w, -1.5));
}

Trainer::Trainer(Model model, const Config& config, std::shared_ptr<const Dataset> dataset)
    : model_(std::move(model)),
      config_(config),
      dataset_(std::move(dataset)),
      optimizer_(*model_),
      epoch_batches_(epoch_batches(dataset_->train, config.training.batch_size, config.training.seed, 0)),
      batches_an_epoch_(static_cast<std::int64_t>(epoch_batches_.size())) {}

Batch Trainer::next_batch() {
  const std::int64_t epoch = step_ / batches_an_epoch_;
  if (epoch != epoch_) {
    epoch_batches_ = epoch_batches(dataset_->train, config_.training.batch_size, config_.training.seed, epoch);
    epoch_ = epoch;
  }
  return make_batch(dataset_->train, epoch_batches_[step_ % batches_an_epoch_], optimizer_.device());
}

MetricPoint Trainer::step(const Breath& breathe_callback) {
  const auto begin = Clock::now();
  TimedBreath breathe(breathe_callback);
  const Batch batch = next_batch();
  breathe();

  model_->train();
  torch::manual_seed(static_cast<std::uint64_t>(config_.training.seed) << 32 | static_cast<std::uint64_t>(step_));
  const Memory memory = model_->encode(batch.source, batch.source_padding);
  const torch::Tensor logits = model_->logits(model_->decode(batch.target_in, memory));  // B×T×V
  const torch::Tensor loss = smoothed_cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(),
                                                    config_.training.label_smoothing, Tokenizer::pad_id);
  breathe();

  optimizer_.zero_gradients();
  loss.backward();
  breathe();

  MetricPoint point;
  point.step = step_ + 1;
  point.loss = loss.item<double>();
  point.gradient_norm = optimizer_.clip(config_.training.clip_norm);
  if (!std::isfinite(point.loss) || !std::isfinite(point.gradient_norm)) {
    throw NotFinite(
        fmt::format("loss {} and gradient norm {} at step {}", point.loss, point.gradient_norm, point.step));
  }
  point.learning_rate = noam_learning_rate(point.step, config_.model.d_model, config_.training.warmup_steps,
                                           config_.training.noam_factor);
  optimizer_.update(point.learning_rate);
  ++step_;
  point.tokens_per_second = static_cast<double>(batch.tokens) / (seconds_since(begin) - breathe.seconds());
  if (step_ % config_.training.validation_interval == 0 && !dataset_->validation.empty()) {
    point.validation_nll = validate(breathe_callback);
  }
  return point;
}

double Trainer::validate(const Breath& breathe) {
  const auto pairs =
      std::span(dataset_->validation).first(std::min(most_validation_pairs, dataset_->validation.size()));
  return negative_log_likelihood(*model_, pairs, config_.training.batch_size, breathe).per_token();
}

void Trainer::adjust(const Config& config) {
  config_ = with_live_fields(config_, config);
  model_->set_dropout(config_.model.dropout);
}

}  // namespace attnscope
