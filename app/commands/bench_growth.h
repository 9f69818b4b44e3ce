#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plain/config.h"

namespace attnscope {

// What an update costs here and now.
struct UpdateCost {
  double milliseconds = 0;
  double megabytes = 0;  // of memory at its peak, model and optimizer included, beyond what the process held before
  double loss = 0;       // of the first
};

// Of the configuration, on the team's threads, with pairs of random pieces as long as model.max_length.
UpdateCost measure_updates(const Config& config, std::int64_t vocab_size);

// How the cost of something grows with one size, all others staying as they are.
struct Growth {
  std::string what;  // "update", "decoding"
  std::string size;  // "length"
  struct Point {
    std::int64_t size = 0;
    double milliseconds = 0;
    double megabytes = 0;  // at its peak, beyond what the process held before; 0 where not measured
  };
  std::vector<Point> points;

  // e of the fitted cost ~ size^e, over the upper half of the sizes, where what does not grow counts least.
  double time_exponent() const;
  double memory_exponent() const;
};

// An update against length, width, layers, vocabulary and batch; decoding of a sentence against its length with the
// cache and without.
std::vector<Growth> measure_growth();

}  // namespace attnscope
