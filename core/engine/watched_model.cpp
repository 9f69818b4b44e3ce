#include "engine/watched_model.h"

#include "model/initial_values.h"

namespace attnscope {
namespace {

Model model_like(SequenceModel& model) {
  const WithoutInitialValues none;
  Model made = make_model(model.config(), model.vocab_size());
  made->to(model.device());
  return made;
}

}  // namespace

void copy_weights(const SequenceModel& from, SequenceModel& to) {
  const torch::NoGradGuard no_grad;
  const auto weights = from.parameters();
  const auto copies = to.parameters();
  for (std::size_t i = 0; i < weights.size(); ++i) copies[i].copy_(weights[i]);
}

std::shared_ptr<WatchedModel> make_watched(const ModelConfig& config, std::int64_t vocab_size, torch::Device device) {
  auto watched = std::make_shared<WatchedModel>(WatchedModel{make_model(config, vocab_size)});
  watched->model->to(device);
  watched->model->freeze();
  return watched;
}

Model trainable_copy(SequenceModel& model) {
  Model copy = model_like(model);
  copy_weights(model, *copy);
  return copy;
}

std::shared_ptr<WatchedModel> another_like(const WatchedModel& watched) {
  auto other = std::make_shared<WatchedModel>(WatchedModel{model_like(*watched.model)});
  other->model->freeze();
  return other;
}

std::shared_ptr<WatchedModel> brought_up_to(Trainer& trainer, const std::shared_ptr<WatchedModel>& last) {
  if (last->step == trainer.steps_done()) return last;
  const bool held = last.use_count() > 1;  // by others than the caller
  const auto watched = held ? another_like(*last) : last;
  copy_weights(trainer.model(), *watched->model);
  watched->step = trainer.steps_done();
  return watched;
}

}  // namespace attnscope
