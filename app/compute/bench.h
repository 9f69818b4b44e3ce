// The benchmarks that bench.cpp calls, and what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "commands/measurement.h"
#include "data/tokenizer/tokenizer.h"

namespace attnscope {

// Measures opening the run or checkpoint in the folder, with warm file cache: time, peak and final memory above the
// program's own; and the time from a sentence to its attention.
std::vector<Measurement> measure_opening(const std::string& run);

struct Config;
struct Dataset;

// Pairs of random tokens, `length` on either side; every second source is three tokens shorter, to create padding.
// Drawn with seed 1.
std::shared_ptr<const Dataset> random_pairs(std::int64_t count, std::int64_t length, std::int64_t vocab_size);

// The measured cost of a training step.
struct UpdateCost {
  double milliseconds = 0;
  double megabytes = 0;  // peak memory including model and optimizer, above what the process used before
  double loss = 0;       // of the first step
};

// Runs steps of the configuration on the thread pool, with pairs of random tokens of length model.max_length.
UpdateCost measure_updates(const Config& config, std::int64_t vocab_size);

// Steps of the standard tiny and small configurations, and of the run in the folder `run` with its own batches, each
// alternating with torch::nn::Transformer, optim::Adam and cross_entropy on the same work; and two runs in lockstep
// compared with each run separately. `threads` 0: all cores. `device`: "cpu" or "cuda"; empty: all available.
std::vector<Measurement> measure_training(const std::string& run, std::int64_t threads, const std::string& device);

// Trains the run in the folder `run` with two windows attached over loopback, alternating with no viewers; and the time
// from a sentence to its attention, in the process and at such a window.
std::vector<Measurement> measure_watched(const std::string& run);

// Decoding with and without the key-value cache, alternating, with the standard model; greedy and with a beam of 4.
std::vector<Measurement> measure_decoding();

// Greedy decoding of `length` tokens, with the cache or recomputing the prefix at every step.
double decoding_milliseconds(std::int64_t length, bool cached);

// From a sentence of 512 tokens to its attention on the screen.
Measurement measure_long_sentence(const Tokenizer& tokenizer, const BenchWindow& window);

// The embeddings of 30 000 tokens: principal axes, nearest neighbors of one, and frames of the map. Any `tokenizer`
// will do. Without a window, no frames.
std::vector<Measurement> measure_embeddings(const Tokenizer& tokenizer, const BenchWindow* window);

}  // namespace attnscope
