#include "data/corpus/random.h"

namespace attnscope {

std::size_t Random::below(std::size_t bound) {
  // Values below `remainder` would bias the result towards small numbers, so they are drawn again.
  const std::uint64_t remainder = (0 - static_cast<std::uint64_t>(bound)) % bound;
  std::uint64_t value = engine_();
  while (value < remainder) value = engine_();
  return static_cast<std::size_t>(value % bound);
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t state) {
  for (const char c : text) {
    state ^= static_cast<unsigned char>(c);
    state *= 0x100000001b3u;
  }
  return state;
}

std::uint64_t lot(std::string_view text, std::int64_t seed) {
  // The finalizer of splitmix64: FNV alone gives similar high bits to similar texts.
  std::uint64_t z = fnv1a(text) + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(seed) + 1);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace attnscope
