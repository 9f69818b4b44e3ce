// Speed, measured here and now: against torch::nn::Transformer doing the same work in turns, so that a ratio stays
// meaningful on a machine whose speed changes by the minute.

#include <fmt/format.h>
#include <torch/torch.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

#include "commands/commands.h"
#include "commands/measurement.h"
#include "commands/paths.h"
#include "commands/progress.h"
#include "decoding/search.h"
#include "decoding/stepper.h"
#include "engine/torch_engine.h"
#include "model/model.h"
#include "model/transformer.h"
#include "plain/config.h"
#include "probe/look_inside.h"
#include "tokenizer/tokenizer.h"
#include "training/trainer.h"

namespace attnscope {
namespace {

double milliseconds(const std::function<void()>& work) {
  const auto begin = Clock::now();
  work();
  return milliseconds_since(begin);
}

// The configuration everyone measures with: vocabulary 4000, 64 pairs of 32 + 32 pieces.
constexpr std::int64_t bench_vocab_size = 4000;
constexpr std::int64_t bench_batch_size = 64;
constexpr std::int64_t bench_length = 32;
constexpr int bench_rounds = 9;

// What a user of torch::nn writes for the same step: nn::Transformer, optim::Adam, cross_entropy.
class Peer : public torch::nn::Module {
 public:
  explicit Peer(const ModelConfig& config)
      : d_model_(static_cast<double>(config.d_model)),
        source_embedding_(register_module("source_embedding", torch::nn::Embedding(bench_vocab_size, config.d_model))),
        target_embedding_(register_module("target_embedding", torch::nn::Embedding(bench_vocab_size, config.d_model))),
        transformer_(register_module(
            "transformer", torch::nn::Transformer(torch::nn::TransformerOptions(config.d_model, config.num_heads)
                                                      .num_encoder_layers(config.num_encoder_layers)
                                                      .num_decoder_layers(config.num_decoder_layers)
                                                      .dim_feedforward(config.d_ff)
                                                      .dropout(config.dropout)))),
        output_(register_module("output", torch::nn::Linear(config.d_model, bench_vocab_size))),
        positions_(sinusoidal_positions(bench_length, config.d_model).unsqueeze(1)),
        optimizer_(parameters(), torch::optim::AdamOptions(1e-4)) {}

  // source, target: int64 B×L; target has one piece more
  void step(const torch::Tensor& source, const torch::Tensor& target, const torch::Tensor& padding) {
    const auto embed = [&](torch::nn::Embedding& embedding, const torch::Tensor& ids) {
      return embedding(ids.transpose(0, 1)) * std::sqrt(d_model_) + positions_;  // L×B×D
    };
    const torch::Tensor causal = torch::full({bench_length, bench_length}, -INFINITY).triu(1);
    const torch::Tensor decoded =
        transformer_->forward(embed(source_embedding_, source), embed(target_embedding_, target.slice(1, 0, -1)), {},
                              causal, {}, padding, padding, padding);
    const torch::Tensor loss = torch::nn::functional::cross_entropy(
        output_(decoded).flatten(0, 1), target.slice(1, 1).transpose(0, 1).flatten(),
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

// One batch of random pieces, the last three source positions of half the pairs being padding.
std::shared_ptr<const Dataset> random_dataset() {
  auto dataset = std::make_shared<Dataset>();
  for (std::int64_t i = 0; i < bench_batch_size; ++i) {
    const torch::Tensor ids = torch::randint(4, bench_vocab_size, {2 * bench_length}, torch::kInt32);
    const auto* id = ids.data_ptr<int>();
    const std::int64_t source_length = bench_length - (i % 2 == 0 ? 0 : 3);
    dataset->train.push_back({{id, id + source_length}, {id + bench_length, id + 2 * bench_length - 1}});
  }
  return dataset;
}

void measure_training(std::vector<Measurement>& out) {
  Config config;
  config.model.tied_embeddings = false;
  config.training.batch_size = bench_batch_size;
  torch::manual_seed(1);
  const Model model = make_model(config.model, bench_vocab_size);
  Trainer trainer(model, config, random_dataset());
  Peer peer(config.model);
  peer.train();
  const torch::Tensor source = torch::randint(4, bench_vocab_size, {bench_batch_size, bench_length}, torch::kInt64);
  const torch::Tensor target = torch::randint(4, bench_vocab_size, {bench_batch_size, bench_length + 1}, torch::kInt64);
  torch::Tensor padding = torch::zeros({bench_batch_size, bench_length}, torch::kBool);
  padding.slice(1, -3).fill_(true);

  std::vector<double> ours, theirs, ratios;
  for (int round = -2; round < bench_rounds; ++round) {
    const double mine = milliseconds([&] { trainer.step({}); });
    const double other = milliseconds([&] { peer.step(source, target, padding); });
    if (round < 0) continue;  // warming up
    ours.push_back(mine);
    theirs.push_back(other);
    ratios.push_back(other / mine);
  }
  const double tokens = 2.0 * bench_batch_size * bench_length;
  out.push_back({"training step (tiny: V 4000, 64×32)", median(ours), "ms"});
  out.push_back({"training, source + target positions", tokens / median(ours) * 1000, "tok/s"});
  out.push_back({"torch::nn::Transformer, the same step", median(theirs), "ms"});
  out.push_back({"training speed against torch::nn", median(ratios), "×"});
}

void measure_looking(TorchEngine& engine, std::vector<Measurement>& out) {
  const std::string sentence = "The animal didn't cross the street because it was too tired.";
  std::vector<double> early, whole;
  double pieces = 0;
  for (int round = 0; round < 20; ++round) {
    const auto begin = Clock::now();
    double first = 0;
    look_inside(engine.model(), engine.tokenizer(), {.text = sentence},
                [&](const Snapshot& snapshot) {
                  if (first == 0) first = milliseconds_since(begin);
                  pieces = static_cast<double>(snapshot.target_out.size());
                },
                {});
    early.push_back(first);
    whole.push_back(milliseconds_since(begin));
  }
  out.push_back({"sentence to encoder attention, idle", median(early), "ms"});
  out.push_back({"sentence to translation and all attention, idle", median(whole), "ms"});
  out.push_back({"greedy decoding, one sentence", pieces / median(whole) * 1000, "pieces/s"});
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

// ---- decoding

constexpr std::int64_t vocab_size = 4000;
constexpr std::int64_t source_length = 32;
constexpr std::int64_t output_length = 128;
constexpr int rounds = 5;

// What the searches ask of a model, answered by reading the whole output anew at every step.
class Uncached {
 public:
  Uncached(SequenceModel& model, const torch::Tensor& source) : model_(model), memory_(model.encode(source, {})) {}

  // As Stepper::advance.
  torch::Tensor advance(const torch::Tensor& rows, const torch::Tensor& tokens) {
    read_ = read_.defined() ? torch::cat({read_.index_select(0, rows), tokens}, 1) : tokens;
    Memory memory = memory_;
    memory.states = memory_.states.expand({read_.size(0), -1, -1});
    return torch::log_softmax(model_.logits(model_.decode(read_, memory).select(1, -1)), -1);
  }

 private:
  SequenceModel& model_;
  Memory memory_;
  torch::Tensor read_;  // int64 N×L
};

template <typename Asked>
double milliseconds(Asked asked, std::int64_t beam) {
  const torch::Tensor begin = torch::full({1, 1}, Tokenizer::bos_id, torch::kInt64);
  const auto start = Clock::now();
  beam_search([&](const auto& rows, const auto& tokens) { return asked.advance(rows, tokens); }, begin,
              {.beam = beam, .limit = output_length, .eos_ends = false});
  return milliseconds_since(start);
}

}  // namespace

int bench(const BenchOptions& options) {
  ProgressLine line;
  std::vector<Measurement> measurements;
  const std::string run = shipped_run().string();
  TorchEngine engine;
  engine.open_run(run, [&](const Progress& news) { line.show(news.what, news.fraction); });
  line.show("Measuring training", -1);
  measure_training(measurements);
  line.show("Measuring looks inside", -1);
  measure_looking(engine, measurements);
  line.show("Measuring decoding", -1);
  for (Measurement& measurement : measure_decoding()) measurements.push_back(std::move(measurement));
#ifdef ATTNSCOPE_GUI
  line.show("Measuring large maps", -1);
  for (Measurement& measurement : measure_maps(engine.tokenizer())) measurements.push_back(std::move(measurement));
  line.show("Measuring the window while training", -1);
  for (Measurement& measurement : measure_window(run)) measurements.push_back(std::move(measurement));
#endif
  line.clear();
  print(measurements, options.json);
  return 0;
}

// ---- decoding

std::vector<Measurement> measure_decoding() {
  torch::manual_seed(1);
  const Model model = make_model(ModelConfig(), vocab_size);
  model->stand_still();
  const torch::Tensor source = torch::randint(4, vocab_size, {1, source_length}, torch::kInt64);
  std::vector<Measurement> measured;
  for (const std::int64_t beam : {1, 4}) {
    std::vector<double> cached, ratios;
    for (int round = -1; round < rounds; ++round) {
      const double with = milliseconds(Stepper(*model, source, {}, {}), beam);
      const double without = milliseconds(Uncached(*model, source), beam);
      if (round < 0) continue;  // warming up
      cached.push_back(with);
      ratios.push_back(without / with);
    }
    measured.push_back({fmt::format("{} pieces decoded with a beam of {}", output_length, beam), median(cached), "ms"});
    measured.push_back({fmt::format("the same against decoding without a cache, beam {}", beam), median(ratios), "×"});
  }
  return measured;
}

// ---- what many values come to

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto index = static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5);
  return values[index];
}

double median(std::vector<double> values) {
  return quantile(std::move(values), 0.5);
}

}  // namespace attnscope
