// Random numbers that are reproducible across machines: the standard library's distributions are
// implementation-defined.
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

  // N(0, 1), by the Box–Muller transform of two uniform numbers.
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace attnscope
