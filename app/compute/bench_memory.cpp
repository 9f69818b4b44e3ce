#include "compute/bench_memory.h"

#include <functional>
#include <utility>

#include "config/config.h"

namespace attnscope {
namespace {

constexpr std::int64_t vocabulary = 8000;
constexpr std::int64_t pairs = 64;
constexpr std::int64_t parts = 8;

Config large() {
  Config config;
  config.model.d_model = 256;
  config.model.d_ff = 1024;
  config.model.num_heads = 8;
  config.model.num_encoder_layers = config.model.num_decoder_layers = 6;
  config.model.positions = "sinusoidal";
  config.model.max_length = 64;
  config.training.batch_size = pairs;
  return config;
}

void accumulate(Config& config) {
  config.training.batch_size = pairs / parts;
  config.training.accumulation_steps = parts;
}

void recompute(Config& config) {
  config.training.recompute = true;
}

}  // namespace

std::vector<MemorySetting> measure_memory() {
  const std::vector<std::pair<std::string, std::function<void(Config&)>>> ways = {
      {"default settings", [](Config&) {}},
      {"training.recompute", recompute},
      {"training.accumulation_steps=8, batch size divided by 8", accumulate},
      {"both",
       [](Config& config) {
         accumulate(config);
         recompute(config);
       }},
      {"training.precision=bfloat16", [](Config& config) { config.training.precision = "bfloat16"; }},
  };
  std::vector<MemorySetting> settings;
  for (const auto& [name, change] : ways) {
    Config config = large();
    change(config);
    settings.push_back({name, measure_updates(config, vocabulary)});
  }
  return settings;
}

}  // namespace attnscope
