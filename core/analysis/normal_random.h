// Random numbers that are the same on every machine: the standard library leaves its distributions to whoever writes
// it.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace attnscope {

class NormalRandom {
 public:
  explicit NormalRandom(std::uint64_t seed) : random_(seed) {}

  // Uniform in [0, 1).
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  // N(0, 1), by Box and Muller's polar form of two uniform numbers.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace attnscope
