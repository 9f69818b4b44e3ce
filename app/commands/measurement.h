// Figures of the bench command, what many values come to, and what is measured elsewhere than in bench.cpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace attnscope {

struct Measurement {
  std::string name;
  double value = 0;
  std::string unit;
};

// The middle one, and the one that `share` of them do not exceed; values must not be empty.
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

// Of /proc/self/status, in MB; 0 where there is none.
double status_megabytes(const std::string& field);
// The peak of the resident set, VmHWM, begins anew.
void forget_peak();

// How long the run or checkpoint in the folder takes to be opened, a second time and on, and what it takes of memory at
// the most and afterwards, beyond what the program has; and how long a sentence takes to its attention.
std::vector<Measurement> measure_opening(const std::string& run);

struct Config;
struct Dataset;

// As many pairs of random pieces, `length` on either side; the source of every second one is three shorter, so that
// there is padding. Drawn from the seed 1.
std::shared_ptr<const Dataset> random_pairs(std::int64_t count, std::int64_t length, std::int64_t vocab_size);

// What an update costs here and now.
struct UpdateCost {
  double milliseconds = 0;
  double megabytes = 0;  // of memory at its peak, model and optimizer included, beyond what the process held before
  double loss = 0;       // of the first
};

// Updates of the configuration, on the team's threads, with pairs of random pieces as long as model.max_length.
UpdateCost measure_updates(const Config& config, std::int64_t vocab_size);

// Updates of the tiny and the small configuration that everyone measures with, and of the run in the folder `run` with
// its own batches, each against torch::nn::Transformer, optim::Adam and cross_entropy doing the same in turns; and
// two runs in lockstep against each of them alone. On so many threads; 0: all cores. What computes on "cpu" or "cuda"
// alone; empty: all there is.
std::vector<Measurement> measure_training(const std::string& run, std::int64_t threads, const std::string& device);

// The run in the folder `run` trained on while two windows are attached to it over loopback, in turns with nobody
// watching; and from a sentence asked for to its attention, in the process and at such a window.
std::vector<Measurement> measure_watched(const std::string& run);

// Decoding with the key-value cache against decoding without it, in turns, with the model everyone measures with;
// greedy and with a beam of 4.
std::vector<Measurement> measure_decoding();

// Greedy decoding of `length` pieces, with the cache or reading all anew at every step.
double decoding_milliseconds(std::int64_t length, bool cached);

// ---- only with the window, which is that large

inline constexpr int measured_width = 1600;
inline constexpr int measured_height = 1000;

// The attention workspace at its largest, drawn offscreen: 192 thumbnails that change with every frame beside a large
// map, and a sentence of 512 pieces from the model to the screen.
std::vector<Measurement> measure_maps(const Tokenizer& tokenizer);

// The embeddings of 30 000 pieces: their principal axes, the neighbours of one, and frames of their map, offscreen.
// `tokenizer` may be anybody's.
std::vector<Measurement> measure_embeddings(const Tokenizer& tokenizer);

// Frames of the whole window drawn offscreen, idle and while a session trains; from a key typed to its attention on the
// screen; the longest the window waited for the worker. `run` is the run trained meanwhile.
std::vector<Measurement> measure_window(const std::string& run);

}  // namespace attnscope
