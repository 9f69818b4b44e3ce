#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

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
