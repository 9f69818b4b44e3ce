#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "compute/bench_peer.h"
#include "compute/bench_workloads.h"
#include "compute/bench.h"
#include "common/free_memory.h"
#include "engine/device.h"
#include "engine/torch_engine.h"
#include "messages/metrics.h"
#include "model/kernels/libtorch.h"
#include "model/kernels/product.h"
#include "model/kernels/thread_pool.h"
#include "training/batch_source.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

constexpr int update_rounds = 9;
constexpr int updates_a_turn = 5;  // the first starts with cold caches, unlike a step in continuous training
constexpr int gpu_rounds = 5;
constexpr int gpu_updates_a_turn = 10;
constexpr int busy_rounds = 3;
constexpr int warm_up_rounds = 2;
constexpr int cost_rounds = 5;
constexpr int lockstep_rounds = 7;
constexpr int lockstep_updates = 8;

// Only the matrix products of a step, distributed over the thread pool as in the step: the mean of several runs.
double products_alone(Trainer& trainer) {
  std::vector<kernels::ProductShape> shapes;
  {
    kernels::NotedProducts noted;
    for (int update = 0; update < updates_a_turn; ++update) trainer.step({});
    shapes = noted.shapes();
  }
  std::int64_t largest = 0;
  for (const auto& shape : shapes) {
    largest = std::max({largest, shape.rows * shape.depth, shape.depth * shape.columns, shape.rows * shape.columns});
  }
  const auto pool = kernels::pool();
  const torch::Tensor a = torch::rand({largest}), b = torch::rand({largest});
  const torch::Tensor c = torch::zeros({pool->size(), largest});
  std::vector<double> times;
  for (int round = 0; round < update_rounds; ++round) {
    times.push_back(milliseconds([&] {
      pool->run(pool->size(), [&](int part) {
        for (std::size_t i = part; i < shapes.size(); i += pool->size()) {
          const auto& [rows, columns, depth, a_transposed, b_transposed, add] = shapes[i];
          kernels::multiply(rows, columns, depth, {a.data_ptr<float>(), a_transposed ? rows : depth, a_transposed},
                            {b.data_ptr<float>(), b_transposed ? depth : columns, b_transposed},
                            c.data_ptr<float>() + part * largest, add);
        }
      });
    }));
  }
  return median(times) / updates_a_turn;
}

// Threads that only load the processor, one per core.
class Busy {
 public:
  Busy() {
    for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) {
      threads_.emplace_back([this] {
        while (!quit_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Busy() {
    quit_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool> quit_ = false;
  std::vector<std::thread> threads_;
};

struct Rounds {
  std::vector<double> ours, theirs, ratios;  // ms, ms, theirs/ours
};

// OpenMP's threads keep spinning for some milliseconds after their work, which must not affect the next measurement.
void let_others_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// Alternates `updates` steps of the one and `updates` steps of the other.
Rounds in_turns(Trainer& trainer, PeerProcess& peer, int count, int updates) {
  Rounds measured;
  for (int round = -warm_up_rounds; round < count; ++round) {
    double mine = 0;
    let_others_sleep();
    for (int update = 0; update < updates; ++update) mine += milliseconds([&] { trainer.step({}); }) / updates;
    let_others_sleep();
    const double other = peer.update_milliseconds(updates);
    if (round < 0) continue;
    measured.ours.push_back(mine);
    measured.theirs.push_back(other);
    measured.ratios.push_back(other / mine);
  }
  return measured;
}

// Source and target positions of the workload, including padding, in thousands.
double thousands_of_places(const Workload& workload) {
  double places = 0;
  for (const Batch& batch : BatchSource(workload.config, workload.dataset, 0, 1).parts(0, 1, torch::kCPU))
    places += static_cast<double>(batch.source.numel() + batch.target_in.numel());
  return places / 1000;
}

void measure(const Workload& workload, PeerProcess& peer, std::vector<Measurement>& out) {
  const torch::Device device = resolve_device(workload.config.training.device);
  torch::manual_seed(1);
  const Model model = make_model(workload.config.model, workload.vocab_size);
  model->to(device);
  Trainer trainer(model, workload.config, workload.dataset);
  const Rounds quiet = device.is_cpu() ? in_turns(trainer, peer, update_rounds, updates_a_turn)
                                       : in_turns(trainer, peer, gpu_rounds, gpu_updates_a_turn);
  out.push_back({"training step, " + workload.name, median(quiet.ours), "ms"});
  out.push_back(device.is_cpu() ? Measurement{"  only its large matrix products", products_alone(trainer), "ms"}
                                : Measurement{"  source and target positions per second",
                                              thousands_of_places(workload) / median(quiet.ours), "M"});
  out.push_back({"  torch::nn::Transformer, the same step in float32", median(quiet.theirs), "ms"});
  out.push_back({"  speed relative to torch::nn", median(quiet.ratios), "×"});
  if (!device.is_cpu()) return;  // nothing else uses it here
  const Busy others;
  const Rounds busy = in_turns(trainer, peer, busy_rounds, 1);
  out.push_back({"  while other processes use every core", median(busy.ours), "ms"});
  out.push_back({"  torch::nn::Transformer under the same load", median(busy.theirs), "ms"});
}

// Two runs of one corpus in lockstep, compared with each of them separately.
void measure_lockstep(const std::string& run, std::int64_t threads, std::vector<Measurement>& out) {
  TorchEngine a;
  a.open_run(run, {});
  const std::unique_ptr<TorchEngine> b = a.sibling();
  b->open_run(run, {});
  set_threads({.threads = threads});
  const auto updates = [](const std::vector<TorchEngine*>& engines) {
    return milliseconds([&] {
      for (int update = 0; update < lockstep_updates; ++update)
        for (TorchEngine* engine : engines) engine->train_step({});
    });
  };
  std::vector<double> shares;
  for (int round = -warm_up_rounds; round < lockstep_rounds; ++round) {
    const double both = updates({&a, b.get()});
    const double alone = updates({&a}) + updates({b.get()});
    if (round >= 0) shares.push_back(both / alone);
  }
  out.push_back({"two runs in lockstep, time relative to both trained separately", median(shares), "×"});
}

}  // namespace

UpdateCost measure_updates(const Config& config, std::int64_t vocab_size) {
  give_back_memory();  // otherwise memory freed by the previous setting would be reused and not be counted
  const double before = status_megabytes("VmRSS:");
  forget_peak();
  torch::manual_seed(1);
  const std::int64_t pairs = config.training.batch_size * config.training.accumulation_steps;
  Trainer trainer(make_model(config.model, vocab_size), config,
                  random_pairs(pairs, config.model.max_length, vocab_size));
  UpdateCost cost;
  cost.loss = trainer.step({})[metric("loss")].value();
  std::vector<double> times;
  for (int round = 0; round < cost_rounds; ++round) times.push_back(milliseconds([&] { trainer.step({}); }));
  cost.milliseconds = median(times);
  cost.megabytes = std::max(0.0, status_megabytes("VmHWM:") - before);
  return cost;
}

std::vector<Measurement> measure_training(const std::string& run, std::int64_t threads, const std::string& device) {
  if (!device.empty()) resolve_device(device);  // throws ConfigError if unavailable
  std::vector<Measurement> measured;
  set_threads({.threads = threads});
  measured.push_back({processor_text() + ": threads", static_cast<double>(kernels::pool()->size()), ""});
  const std::vector<Workload> workloads = training_workloads(run);
  set_threads({.threads = threads});  // instead of the run's number
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (!device.empty() && workloads[i].config.training.device != device) continue;
    PeerProcess peer(i, threads);
    measure(workloads[i], peer, measured);
  }
  if (device != "cuda") measure_lockstep(run, threads, measured);
  kernels::set_pool_size(1);  // new threads inherit this thread's priority
  return measured;
}

}  // namespace attnscope
