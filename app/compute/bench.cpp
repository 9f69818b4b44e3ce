// Speed benchmarks: each alternates with another program doing the same work, so that the ratio is meaningful even if
// the machine's speed varies from minute to minute.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "commands/commands.h"
#include "commands/paths.h"
#include "commands/progress.h"
#include "compute/bench.h"
#include "compute/bench_growth.h"
#include "compute/bench_memory.h"
#include "compute/bench_peer.h"
#include "engine/torch_engine.h"
#include "inspect/circuit/search.h"
#include "inspect/circuit/sweep.h"
#include "inspect/evaluation/neurons.h"
#include "inspect/probe/inspect_model.h"
#include "model/kernels/libtorch.h"
#include "training/validation.h"

namespace attnscope {
namespace {

void measure_inspections(TorchEngine& engine, std::vector<Measurement>& out) {
  const std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<double> early, whole;
  double tokens = 0;
  for (int round = 0; round < 20; ++round) {
    const auto begin = Clock::now();
    double first = 0;
    inspect_model(engine.model(), engine.tokenizer(), {.text = sentence},
                  [&](const Snapshot& snapshot) {
                    if (first == 0) first = milliseconds_since(begin);
                    tokens = static_cast<double>(snapshot.target_out.size());
                  },
                  {});
    early.push_back(first);
    whole.push_back(milliseconds_since(begin));
  }
  out.push_back({"sentence to encoder attention, idle", median(early), "ms"});
  out.push_back({"sentence to translation and all attention maps, idle", median(whole), "ms"});
  out.push_back({"greedy decoding, one sentence", tokens / median(whole) * 1000, "pieces/s"});
}

// Patches every value of one run into the other, in batches; and searches the circuit of one pair.
void measure_circuit(TorchEngine& engine, std::vector<Measurement>& out) {
  const ContrastQuestion question{"The animal didn't cross the street because it was too tired.",
                                  "The animal didn't cross the street because it was too wide.",
                                  {}};
  const auto runs = std::make_shared<const ContrastRuns>(engine.model(), engine.tokenizer(), question);
  std::vector<double> sweeps, searches;
  for (int round = 0; round < 5; ++round) {
    auto begin = Clock::now();
    sweep(*runs, ContrastSide::corrupted, ChangeKind::contrast);
    sweeps.push_back(milliseconds_since(begin));
    begin = Clock::now();
    find_circuit({case_of(runs)});
    searches.push_back(milliseconds_since(begin));
  }
  out.push_back({"circuit: every position patched, one pair", median(sweeps), "ms"});
  out.push_back({"circuit: the search, one pair", median(searches), "ms"});
}

// The activations of a layer's neurons over the tokens of the validation part.
void measure_neurons(TorchEngine& engine, std::vector<Measurement>& out) {
  const std::vector<Batch> batches = validation_batches(engine.model(), *engine.dataset(), 32);
  std::vector<double> rates;
  for (int round = 0; round < 5; ++round) {
    const auto begin = Clock::now();
    const NeuronSample sample(engine.model(), batches, {}, nullptr, {});
    rates.push_back(static_cast<double>(sample.tokens()) / milliseconds_since(begin) * 1000);
  }
  out.push_back({"neurons: collecting the activations of a layer", median(rates), "tokens/s"});
}

void print(const std::vector<Measurement>& measurements, bool json) {
  if (json) {
    nlohmann::ordered_json object;
    for (const auto& [name, value, unit] : measurements) object[name] = {{"value", value}, {"unit", unit}};
    fmt::print("{}\n", object.dump());
    return;
  }
  for (const auto& [name, value, unit] : measurements) fmt::print("{:<64} {:>10.2f} {}\n", name, value, unit);
}

void print_growth(bool json) {
  ProgressLine line;
  line.show("Measuring scaling", -1);
  const std::vector<Growth> all = measure_growth();
  line.clear();
  nlohmann::ordered_json list = nlohmann::json::array();
  for (const Growth& growth : all) {
    const double time = growth.time_exponent(), memory = growth.memory_exponent();
    if (json) {
      nlohmann::ordered_json points = nlohmann::json::array();
      for (const auto& [size, milliseconds, megabytes] : growth.points) {
        points.push_back({{"size", size}, {"ms", milliseconds}, {"MB", megabytes}});
      }
      list.push_back({{"what", growth.what},
                      {"size", growth.size},
                      {"points", points},
                      {"time_exponent", time},
                      {"memory_exponent", memory}});
      continue;
    }
    fmt::print("{} against {}: time ~ {}^{:.2f}, memory ~ {}^{:.2f}\n", growth.what, growth.size, growth.size, time,
               growth.size, memory);
    for (const auto& [size, milliseconds, megabytes] : growth.points) {
      fmt::print("  {:>6} {:>10.1f} ms {:>8.0f} MB\n", size, milliseconds, megabytes);
    }
  }
  if (json) fmt::print("{}\n", list.dump());
}

void print_memory(bool json) {
  ProgressLine line;
  line.show("Measuring memory", -1);
  const std::vector<MemorySetting> all = measure_memory();
  line.clear();
  nlohmann::ordered_json object;
  for (const auto& [name, cost] : all) {
    if (json) {
      object[name] = {{"MB", cost.megabytes}, {"ms", cost.milliseconds}, {"loss", cost.loss}};
    } else {
      fmt::print("{:<56} {:>6.0f} MB {:>8.1f} ms per step, loss {:.4f}\n", name, cost.megabytes, cost.milliseconds,
                 cost.loss);
    }
  }
  if (json) fmt::print("{}\n", object.dump());
}

}  // namespace

int bench(const BenchOptions& options) {
  if (options.growth) {
    set_threads({.threads = options.threads});
    print_growth(options.json);
    return 0;
  }
  if (options.memory) {
    set_threads({.threads = options.threads});
    print_memory(options.json);
    return 0;
  }
  if (options.peer >= 0) {
    return run_peer(shipped_run().string(), static_cast<std::size_t>(options.peer), options.threads);
  }
  ProgressLine line;
  if (!options.run.empty()) {
    line.show("Opening the run and running the model", -1);
    const std::vector<Measurement> measured = measure_opening(options.run);
    line.clear();
    print(measured, options.json);
    return 0;
  }
  std::vector<Measurement> measurements;
  const auto add = [&](std::vector<Measurement> measured) {
    std::ranges::move(measured, std::back_inserter(measurements));
  };
  const std::string run = shipped_run().string();
  if (options.window_alone) {
    if (!options.window) throw std::runtime_error("this build has no window (ATTNSCOPE_GUI=OFF)");
    line.show("Measuring the window while training", -1);
    add(options.window->captures());
    add(options.window->thumbnails());
    add(options.window->neuron_frames());
    add(options.window->while_training(run));
    line.clear();
    print(measurements, options.json);
    return 0;
  }
  TorchEngine engine;
  engine.open_run(run, [&](const Progress& news) { line.show(news.what, news.fraction); });
  line.show("Measuring training", -1);
  add(measure_training(run, options.threads, options.device));
  if (options.training_alone) {
    line.clear();
    print(measurements, options.json);
    return 0;
  }
  line.show("Measuring training with viewers attached", -1);
  add(measure_watched(run));
  line.show("Measuring forward passes", -1);
  measure_inspections(engine, measurements);
  line.show("Measuring decoding", -1);
  add(measure_decoding());
  line.show("Measuring the circuit search", -1);
  measure_circuit(engine, measurements);
  line.show("Measuring neurons", -1);
  measure_neurons(engine, measurements);
  if (options.window) {
    add(options.window->neuron_frames());
    line.show("Measuring large attention maps", -1);
    add(options.window->captures());
    add(options.window->thumbnails());
    measurements.push_back(measure_long_sentence(engine.tokenizer(), *options.window));
  }
  line.show("Measuring embedding maps", -1);
  add(measure_embeddings(engine.tokenizer(), options.window));
  if (options.window) {
    line.show("Measuring the window while training", -1);
    add(options.window->while_training(run));
  }
  line.clear();
  print(measurements, options.json);
  return 0;
}

// ---- shared workloads

std::shared_ptr<const Dataset> random_pairs(std::int64_t count, std::int64_t length, std::int64_t vocab_size) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> token(4, static_cast<int>(vocab_size) - 1);
  const auto tokens = [&](std::int64_t size) {
    std::vector<int> ids(static_cast<std::size_t>(size));
    std::ranges::generate(ids, [&] { return token(random); });
    return ids;
  };
  auto dataset = std::make_shared<Dataset>();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t shorter = i % 2 == 0 ? 0 : 3;
    dataset->train.push_back({tokens(length - shorter), tokens(length - 1)});  // <s> makes the target's length `length`
  }
  return dataset;
}

}  // namespace attnscope
