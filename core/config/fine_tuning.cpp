#include "config/fine_tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "config/position_schemes.h"

namespace attnscope {
namespace {

// Returns true for fields that may differ with the same weights, because they do not change the meaning of the weights.
bool is_free(const ConfigField& field, const Config& origin) {
  constexpr std::array<std::string_view, 3> free = {"model.from", "model.dropout", "model.initialization"};
  if (std::ranges::find(free, field.key) != free.end()) return true;
  // Learned positions have one vector per position.
  return field.key == "model.max_length" && origin.model.positions != "learned";
}

bool is_of_the_model(const ConfigField& field) {
  return field.key.starts_with("model.") || field.key.starts_with("tokenizer.");
}

}  // namespace

TrainingConfig fine_tuning() {
  TrainingConfig training;
  training.steps = 1000;
  training.batch_size = 16;
  training.schedule = "constant";
  training.learning_rate = 1e-4;
  training.warmup_steps = 50;
  training.label_smoothing = 0;
  training.validation_interval = 100;
  return training;
}

void check_begins_with(const Config& config, const Config& origin) {
  for (const ConfigField& field : config_fields()) {
    if (!is_of_the_model(field) || is_free(field, origin)) continue;
    const std::string wanted = field_text(config, field), there = field_text(origin, field);
    if (wanted == there) continue;
    throw ConfigError(fmt::format("{} is \"{}\", allowed with the weights of {}: \"{}\"", field.key, wanted,
                                  config.model.from, there));
  }
}

}  // namespace attnscope
