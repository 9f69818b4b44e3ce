#include "commands/bench_workloads.h"

#include <fmt/format.h>

#include <utility>

#include "commands/measurement.h"
#include "engine/torch_engine.h"
#include "plain/presets.h"

namespace attnscope {
namespace {

// One batch of random pieces, for the model of a preset.
Workload random_workload(const std::string& name, std::int64_t vocab_size, std::int64_t batch_size) {
  constexpr std::int64_t length = 32;
  Workload workload{fmt::format("{} (V {}, {}×{})", name, vocab_size, batch_size, length), {}, vocab_size, {}};
  workload.config.model = with_preset(preset(name), {}).model;
  workload.config.model.tied_embeddings = false;
  workload.config.training.batch_size = batch_size;
  workload.dataset = random_pairs(batch_size, length, vocab_size);
  return workload;
}

// The shipped run's pairs, whose configuration is the default's: as they meet by default, and those of like length.
std::vector<Workload> workloads_of_run(const std::string& run) {
  TorchEngine engine;
  engine.open_run(run, {});
  std::vector<Workload> workloads;
  for (const char* const order : {"chance", "source"}) {
    Config config = engine.config();
    config.training.batch_order = order;
    workloads.push_back({fmt::format("the shipped run's pairs, together by {}", order), config,
                         engine.tokenizer().vocab_size(), engine.dataset()});
  }
  return workloads;
}

}  // namespace

std::vector<Workload> training_workloads(const std::string& run) {
  std::vector<Workload> workloads = {random_workload("tiny", 4000, 64), random_workload("small", 8000, 32)};
  for (Workload& workload : workloads_of_run(run)) workloads.push_back(std::move(workload));
  return workloads;
}

}  // namespace attnscope
