#include "compute/bench_workloads.h"

#include <fmt/format.h>
#include <torch/cuda.h>

#include <utility>

#include "compute/bench.h"
#include "config/presets.h"
#include "engine/torch_engine.h"

namespace attnscope {
namespace {

// One batch of random tokens, for a preset's model, on the CPU.
Workload random_workload(const std::string& name, std::int64_t vocab_size, std::int64_t batch_size,
                         std::int64_t length) {
  Workload workload{fmt::format("{} (V {}, {}×{})", name, vocab_size, batch_size, length), {}, vocab_size, {}};
  workload.config.model = with_preset(preset(name), {}).model;
  workload.config.model.tied_embeddings = false;
  workload.config.training.batch_size = batch_size;
  workload.config.training.device = "cpu";
  workload.dataset = random_pairs(batch_size, length, vocab_size);
  return workload;
}

// The shipped run's pairs with the default configuration, except that positions are added to the embeddings, as
// torch::nn::Transformer requires: in default order, and sorted by length.
std::vector<Workload> workloads_of_run(const std::string& run) {
  TorchEngine engine;
  engine.open_run(run, {});
  std::vector<Workload> workloads;
  for (const char* const order : {"chance", "source"}) {
    Config config = engine.config();
    config.model.positions = "sinusoidal";
    config.training.batch_order = order;
    config.training.device = "cpu";
    workloads.push_back({fmt::format("the shipped run's pairs, batch order {}", order), config,
                         engine.tokenizer().vocab_size(), engine.dataset()});
  }
  return workloads;
}

std::vector<Workload> workloads_of_gpu() {
  std::vector<Workload> workloads;
  for (const Workload& each : {random_workload("tiny", 4000, 64, 32), random_workload("small", 8000, 128, 32),
                               random_workload("base", 32000, 256, 48)}) {
    for (const char* const precision : {"float32", "bfloat16"}) {
      Workload& workload = workloads.emplace_back(each);
      workload.name += fmt::format(" on CUDA, {}", precision);
      workload.config.training.device = "cuda";
      workload.config.training.precision = precision;
    }
  }
  return workloads;
}

}  // namespace

std::vector<Workload> training_workloads(const std::string& run) {
  std::vector<Workload> workloads = {random_workload("tiny", 4000, 64, 32), random_workload("small", 8000, 32, 32)};
  for (Workload& workload : workloads_of_run(run)) workloads.push_back(std::move(workload));
  if (!torch::cuda::is_available()) return workloads;
  for (Workload& workload : workloads_of_gpu()) workloads.push_back(std::move(workload));
  return workloads;
}

}  // namespace attnscope
