#include "kernels/loops/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr std::int64_t lanes = 16;         // counters in a row, whatever the level
constexpr std::int64_t draws = 8 * lanes;  // of 16 bits each
constexpr int num_rounds = 12;             // the fewest that pass BigCrush

// As many of the lanes as a register has, and as many registers of them at a time as hide each other's waiting.
typedef std::uint32_t Words __attribute__((vector_size(4 * width), aligned(4), may_alias));
constexpr int together = lanes / width < 2 ? 1 : 2;

inline Words rotated(Words x, int bits) {
  return x << bits | x >> (32 - bits);
}

// Threefry-4×32 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
struct Threefry {
  std::uint32_t key[5];

  explicit Threefry(const DropoutKey& from) {
    key[4] = 0x1BD11BDA;
    for (int i = 0; i < 4; ++i) {
      key[i] = from.words[i];
      key[4] ^= key[i];
    }
  }

  // x: the counters going in and the draws coming out, four words of each.
  void operator()(Words (&x)[4][together]) const {
    add_key(x, 0);
    round<0>(x);
  }

 private:
  // This round and those after it: as templates, so that the turns are constants.
  template <int Round>
  void round(Words (&x)[4][together]) const {
    constexpr int turns[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
    constexpr int first = Round % 2 == 0 ? 1 : 3;
    mix(x[0], x[first], turns[Round % 8][0]);
    mix(x[2], x[4 - first], turns[Round % 8][1]);
    if constexpr (Round % 4 == 3) add_key(x, (Round + 1) / 4);
    if constexpr (Round + 1 < num_rounds) round<Round + 1>(x);
  }

  static void mix(Words (&a)[together], Words (&b)[together], int turn) {
    for (int i = 0; i < together; ++i) {
      a[i] += b[i];
      b[i] = rotated(b[i], turn) ^ a[i];
    }
  }

  void add_key(Words (&x)[4][together], int injection) const {
    for (int word = 0; word < 4; ++word) {
      const std::uint32_t added = key[(injection + word) % 5] + (word == 3 ? injection : 0);
      for (int i = 0; i < together; ++i) x[word][i] += added;
    }
  }
};

// 0 where a draw is below the threshold, else the scale's bits.
inline Words decided(Words draw, std::uint32_t threshold, std::uint32_t scale) {
  return reinterpret_cast<Words>(draw >= threshold) & scale;
}

// The masks of the lanes from `lane` on, of all their draws.
void draw(const DropoutRule& rule, const Threefry& threefry, std::uint64_t stream, std::int64_t begin,
          std::int64_t lane, float* mask) {
  std::uint32_t scale = 0;
  std::memcpy(&scale, &rule.scale, sizeof scale);
  Words x[4][together];
  for (int i = 0; i < together; ++i) {
    for (std::int64_t j = 0; j < width; ++j) x[0][i][j] = static_cast<std::uint32_t>(begin + lane + i * width + j);
    x[1][i] = Words{};
    x[2][i] = Words{} + static_cast<std::uint32_t>(stream);
    x[3][i] = Words{} + static_cast<std::uint32_t>(stream >> 32U);
  }
  threefry(x);
  for (int word = 0; word < 4; ++word) {
    for (int i = 0; i < together; ++i) {
      float* place = mask + 2 * word * lanes + lane + i * width;
      *reinterpret_cast<Words*>(place) = decided(x[word][i] & 0xFFFFU, rule.threshold, scale);
      *reinterpret_cast<Words*>(place + lanes) = decided(x[word][i] >> 16U, rule.threshold, scale);
    }
  }
}

void draw_all(const DropoutRule& rule, const Threefry& threefry, std::uint64_t stream, std::int64_t begin,
              float* mask) {
  for (std::int64_t lane = 0; lane < lanes; lane += together * width) draw(rule, threefry, stream, begin, lane, mask);
}

}  // namespace

void dropout_mask(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, float* mask) {
  const Threefry threefry(rule.key);
  std::int64_t begin = 0;
  for (; begin + draws <= n; begin += draws) draw_all(rule, threefry, stream, begin, mask + begin);
  if (begin == n) return;
  float last[draws];
  draw_all(rule, threefry, stream, begin, last);
  std::memcpy(mask + begin, last, sizeof(float) * (n - begin));
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
