#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace attnscope {

// The growth of a cost with one size, all other sizes fixed.
struct Growth {
  std::string what;  // "update", "decoding"
  std::string size;  // "length"
  struct Point {
    std::int64_t size = 0;
    double milliseconds = 0;
    double megabytes = 0;  // peak memory above what the process used before; 0: not measured
  };
  std::vector<Point> points;

  // e of the fitted cost ~ size^e, over the upper half of the sizes, where constant costs matter least.
  double time_exponent() const;
  double memory_exponent() const;
};

// A training step against length, width, layers, vocabulary and batch size; decoding against sentence length, with and
// without cache.
std::vector<Growth> measure_growth();

}  // namespace attnscope
