#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>

#include "commands/measurement.h"
#include "engine/device.h"
#include "engine/torch_engine.h"
#include "kernels/product.h"
#include "kernels/team.h"
#include "model/positions.h"
#include "plain/free_memory.h"
#include "plain/metrics.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

constexpr int update_rounds = 9;
constexpr int busy_rounds = 3;
constexpr int warm_up_rounds = 2;
constexpr int cost_rounds = 5;
constexpr int lockstep_rounds = 7;
constexpr int lockstep_updates = 8;

// What a user of torch::nn writes for the same step: nn::Transformer, optim::Adam, cross_entropy.
class Peer : public torch::nn::Module {
 public:
  Peer(const ModelConfig& config, std::int64_t vocab_size)
      : d_model_(static_cast<double>(config.d_model)),
        source_embedding_(register_module("source_embedding", torch::nn::Embedding(vocab_size, config.d_model))),
        target_embedding_(register_module("target_embedding", torch::nn::Embedding(vocab_size, config.d_model))),
        transformer_(register_module(
            "transformer", torch::nn::Transformer(torch::nn::TransformerOptions(config.d_model, config.num_heads)
                                                      .num_encoder_layers(config.num_encoder_layers)
                                                      .num_decoder_layers(config.num_decoder_layers)
                                                      .dim_feedforward(config.d_ff)
                                                      .dropout(config.dropout)))),
        output_(register_module("output", torch::nn::Linear(config.d_model, vocab_size))),
        positions_(sinusoidal_positions(config.max_length, config.d_model).unsqueeze(1)),
        optimizer_(parameters(), torch::optim::AdamOptions(1e-4)) {}

  void step(const Batch& batch) {
    const auto embed = [&](torch::nn::Embedding& embedding, const torch::Tensor& ids) {
      return embedding(ids.transpose(0, 1)) * std::sqrt(d_model_) + positions_.slice(0, 0, ids.size(1));  // L×B×D
    };
    const std::int64_t length = batch.target_in.size(1);
    const torch::Tensor causal = torch::full({length, length}, -INFINITY).triu(1);
    const torch::Tensor source_padding = batch.source.eq(Tokenizer::pad_id);
    const torch::Tensor target_padding = batch.target_in.eq(Tokenizer::pad_id);
    const torch::Tensor decoded =
        transformer_->forward(embed(source_embedding_, batch.source), embed(target_embedding_, batch.target_in), {},
                              causal, {}, source_padding, target_padding, source_padding);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        output_(decoded).flatten(0, 1), batch.target_out.transpose(0, 1).flatten(),
        torch::nn::functional::CrossEntropyFuncOptions().ignore_index(Tokenizer::pad_id).label_smoothing(0.1));
    optimizer_.zero_grad();
    loss.backward();
    optimizer_.step();
  }

 private:
  double d_model_;
  torch::nn::Embedding source_embedding_, target_embedding_;
  torch::nn::Transformer transformer_;
  torch::nn::Linear output_;
  torch::Tensor positions_;
  torch::optim::Adam optimizer_;
};

// What is trained on, and how.
struct Workload {
  std::string name;
  Config config;
  std::int64_t vocab_size = 0;
  std::shared_ptr<const Dataset> dataset;
};

// One batch of random pieces.
Workload random_workload(const std::string& name, std::int64_t vocab_size, std::int64_t batch_size, ModelConfig model) {
  constexpr std::int64_t length = 32;
  Workload workload{fmt::format("{} (V {}, {}×{})", name, vocab_size, batch_size, length), {}, vocab_size, {}};
  workload.config.model = std::move(model);
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

ModelConfig small_model() {
  ModelConfig model;
  model.d_model = 256;
  model.num_heads = 8;
  model.num_encoder_layers = model.num_decoder_layers = 3;
  model.d_ff = 1024;
  return model;
}

// The batches in turn for the peer, whole.
class PeerBatches {
 public:
  explicit PeerBatches(const Workload& workload)
      : dataset_(workload.dataset),
        sequence_(dataset_->train, batch_rule(workload.config.training), workload.config.training.seed) {}

  Batch next() { return make_batch(dataset_->train, sequence_.at(number_++), torch::kCPU); }

 private:
  std::shared_ptr<const Dataset> dataset_;
  BatchSequence sequence_;
  std::int64_t number_ = 0;
};

// The products of one update alone, shared out to the team as the update's are.
double products_alone(Trainer& trainer) {
  std::vector<kernels::ProductShape> shapes;
  {
    kernels::NotedProducts noted;
    trainer.step({});
    shapes = noted.shapes();
  }
  std::int64_t largest = 0;
  for (const auto& shape : shapes) {
    largest = std::max({largest, shape.rows * shape.depth, shape.depth * shape.columns, shape.rows * shape.columns});
  }
  const auto team = kernels::team();
  const torch::Tensor a = torch::rand({largest}), b = torch::rand({largest});
  const torch::Tensor c = torch::zeros({team->size(), largest});
  std::vector<double> times;
  for (int round = 0; round < update_rounds; ++round) {
    times.push_back(milliseconds([&] {
      team->run(team->size(), [&](int part) {
        for (std::size_t i = part; i < shapes.size(); i += team->size()) {
          const auto& [rows, columns, depth, a_transposed, b_transposed, add] = shapes[i];
          kernels::multiply(rows, columns, depth, {a.data_ptr<float>(), a_transposed ? rows : depth, a_transposed},
                            {b.data_ptr<float>(), b_transposed ? depth : columns, b_transposed},
                            c.data_ptr<float>() + part * largest, add);
        }
      });
    }));
  }
  return median(times);
}

// Threads that do nothing but keep the processor from others, as many as it has cores.
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

// OpenMP's threads go on spinning for some milliseconds after their work, which is not to be felt in what comes next.
void let_others_sleep() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// Updates of both in turns; `batches` are the peer's.
Rounds in_turns(Trainer& trainer, Peer& peer, PeerBatches& batches, int count) {
  const int threads = kernels::team()->size();
  Rounds measured;
  for (int round = -warm_up_rounds; round < count; ++round) {
    let_others_sleep();
    const double mine = milliseconds([&] { trainer.step({}); });
    const Batch batch = batches.next();
    let_others_sleep();
    at::set_num_threads(threads);
    const double other = milliseconds([&] { peer.step(batch); });
    at::set_num_threads(1);
    if (round < 0) continue;
    measured.ours.push_back(mine);
    measured.theirs.push_back(other);
    measured.ratios.push_back(other / mine);
  }
  return measured;
}

void measure(const Workload& workload, std::int64_t threads, std::vector<Measurement>& out) {
  set_threads({.threads = threads});
  torch::manual_seed(1);
  Trainer trainer(make_model(workload.config.model, workload.vocab_size), workload.config, workload.dataset);
  Peer peer(workload.config.model, workload.vocab_size);
  peer.train();
  PeerBatches batches(workload);
  const Rounds quiet = in_turns(trainer, peer, batches, update_rounds);
  out.push_back({"update, " + workload.name, median(quiet.ours), "ms"});
  out.push_back({"  its large products alone", products_alone(trainer), "ms"});
  out.push_back({"  torch::nn::Transformer, the same update", median(quiet.theirs), "ms"});
  out.push_back({"  speed against torch::nn", median(quiet.ratios), "×"});
  const Busy others;
  const Rounds busy = in_turns(trainer, peer, batches, busy_rounds);
  out.push_back({"  while others want every core", median(busy.ours), "ms"});
  out.push_back({"  torch::nn::Transformer, likewise", median(busy.theirs), "ms"});
}

// Two runs of one corpus, update for update, against each of them alone.
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
  out.push_back({"two runs in lockstep, of the time of both alone", median(shares), "×"});
}

}  // namespace

UpdateCost measure_updates(const Config& config, std::int64_t vocab_size) {
  give_back_memory();  // what the one before freed would be taken again, and not be seen
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

std::vector<Measurement> measure_training(const std::string& run, std::int64_t threads) {
  std::vector<Measurement> measured;
  set_threads({.threads = threads});
  measured.push_back({processor_text() + ": threads", static_cast<double>(kernels::team()->size()), ""});
  measure(random_workload("tiny", 4000, 64, {}), threads, measured);
  measure(random_workload("small", 8000, 32, small_model()), threads, measured);
  for (const Workload& workload : workloads_of_run(run)) measure(workload, threads, measured);
  measure_lockstep(run, threads, measured);
  kernels::set_team_size(1);  // its threads have this thread's priority
  return measured;
}

}  // namespace attnscope
