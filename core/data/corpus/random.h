// Random draws that are equal with every compiler and standard library, unlike std::shuffle and the std distributions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

namespace attnscope {

class Random {
 public:
  explicit Random(std::int64_t seed) : engine_(static_cast<std::uint64_t>(seed)) {}

  // Uniform in 0…bound−1; bound ≥ 1.
  std::size_t below(std::size_t bound);

  // Fisher–Yates.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[below(left)]);
  }

 private:
  std::mt19937_64 engine_;
};

// FNV-1a, 64 bits. `state` continues an earlier hash.
constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;
std::uint64_t fnv1a(std::string_view text, std::uint64_t state = fnv_start);

// Returns a well-mixed number that depends only on the text and the seed; used to assign texts to parts of a split.
std::uint64_t lot(std::string_view text, std::int64_t seed);

}  // namespace attnscope
