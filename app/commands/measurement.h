// Results of the bench command, statistics, and the benchmarks implemented outside bench.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/tokenizer/tokenizer.h"

namespace attnscope {

struct Measurement {
  std::string name;
  double value = 0;
  std::string unit;
};

// The median, and the quantile at `share`; values must not be empty.
double median(std::vector<double> values);
double quantile(std::vector<double> values, double share);

using Clock = std::chrono::steady_clock;

inline double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

template <typename Work>
double milliseconds(Work&& work) {
  const auto begin = Clock::now();
  work();
  return milliseconds_since(begin);
}

// A field of /proc/self/status, in MB; 0 if unavailable.
double status_megabytes(const std::string& field);
// Resets the peak resident set size, VmHWM.
void forget_peak();

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

// ---- only in builds with the window, which has this size

inline constexpr int measured_width = 1600;
inline constexpr int measured_height = 1000;

// The largest attention workspace, drawn offscreen: 192 thumbnails that change in every frame next to a large map, and
// a sentence of 512 tokens from the model to the screen.
std::vector<Measurement> measure_maps(const Tokenizer& tokenizer);

// Two large captures (files/captures/capture.h): opening, memory and frames of the window, drawn offscreen.
std::vector<Measurement> measure_captures();

// The embeddings of 30 000 tokens: principal axes, nearest neighbors of one, and frames of the map, offscreen. Any
// `tokenizer` will do.
std::vector<Measurement> measure_embeddings(const Tokenizer& tokenizer);

// Frames of the whole window drawn offscreen, idle and during training; the time from a keystroke to its attention on
// the screen; the longest wait of the window for the worker. `run` is trained meanwhile.
std::vector<Measurement> measure_window(const std::string& run);

}  // namespace attnscope
