// Large inputs: a sentence of 512 tokens, and 30 000 embeddings.
#include <memory>
#include <utility>

#include "compute/bench.h"
#include "inspect/probe/embeddings.h"
#include "inspect/probe/inspect_model.h"
#include "inspect/probe/tensors.h"
#include "messages/embeddings.h"
#include "model/model.h"

namespace attnscope {
namespace {

constexpr int map_tokens = 30'000;

}  // namespace

Measurement measure_long_sentence(const Tokenizer& tokenizer, const BenchWindow& window) {
  constexpr int rounds = 12;
  constexpr std::int64_t tokens = 512;
  ModelConfig config;
  config.max_length = tokens;
  const Model model = make_model(config, tokenizer.vocab_size());
  model->freeze();
  const auto draw = window.open_attention();
  std::vector<double> times;
  Probe probe;
  for (std::int64_t i = 0; i < tokens; ++i) probe.text += "the animal ";
  struct Enough {};  // the rest of the inspection is not measured
  for (int round = -2; round < rounds; ++round) {
    const auto begin = Clock::now();
    try {
      inspect_model(*model, tokenizer, probe,
                    [&](Snapshot early) {
                      draw(std::make_shared<const Snapshot>(std::move(early)));
                      throw Enough();
                    },
                    {});
    } catch (const Enough&) {
    }
    if (round >= 0) times.push_back(milliseconds_since(begin));
  }
  return {"512 tokens: from the sentence to its attention on screen, median", median(times), "ms"};
}

std::vector<Measurement> measure_embeddings(const Tokenizer& tokenizer, const BenchWindow* window) {
  ModelConfig config;
  config.d_model = 512;
  config.num_heads = 8;
  const Model model = make_model(config, map_tokens);
  model->freeze();
  auto vocabulary = std::make_shared<Vocabulary>();
  for (int id = 0; id < map_tokens; ++id) vocabulary->tokens.push_back("\u2581token" + std::to_string(id));
  vocabulary->facts.resize(map_tokens);
  std::vector<Measurement> out;
  EmbeddingAnalyzer embedding_analyzer(vocabulary);
  const auto begin = Clock::now();
  auto inspection = embedding_analyzer.inspect(*model, tokenizer, {}, {});
  out.push_back({"30 000 tokens of width 512: principal components", milliseconds_since(begin), "ms"});
  std::vector<double> times;
  for (int round = 0; round < 12; ++round) {
    const auto asked = Clock::now();
    inspection =
        embedding_analyzer.inspect(*model, tokenizer, {.chosen = "token" + std::to_string(100 + round)}, {});
    times.push_back(milliseconds_since(asked));
  }
  out.push_back({"30 000 tokens of width 512: neighbors of one token, median", median(times), "ms"});
  if (window)
    for (Measurement& measurement : window->embedding_frames(*inspection)) out.push_back(std::move(measurement));
  return out;
}

}  // namespace attnscope
