#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {
namespace {

constexpr std::int64_t lanes = 16;         // counters per row, at every level
constexpr std::int64_t draws = 8 * lanes;  // of 16 bits each
constexpr int num_rounds = 12;             // the minimum that passes BigCrush

// A register holds as many lanes as it can; several registers are processed together to hide latency: four if the
// processor has 32 of them.
constexpr int most_together = width == lanes ? 4 : 2;

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

  // x: counters on input, draws on output, four words each.
  template <int Together>
  void operator()(Words (&x)[4][Together]) const {
    add_key(x, 0);
    round<0>(x);
  }

 private:
  // This round and the following ones: templates, so that the rotation amounts are constants.
  template <int Round, int Together>
  void round(Words (&x)[4][Together]) const {
    constexpr int turns[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
    constexpr int first = Round % 2 == 0 ? 1 : 3;
    mix(x[0], x[first], turns[Round % 8][0]);
    mix(x[2], x[4 - first], turns[Round % 8][1]);
    if constexpr (Round % 4 == 3) add_key(x, (Round + 1) / 4);
    if constexpr (Round + 1 < num_rounds) round<Round + 1>(x);
  }

  template <int Together>
  static void mix(Words (&a)[Together], Words (&b)[Together], int turn) {
    for (int i = 0; i < Together; ++i) {
      a[i] += b[i];
      b[i] = rotated(b[i], turn) ^ a[i];
    }
  }

  template <int Together>
  void add_key(Words (&x)[4][Together], int injection) const {
    for (int word = 0; word < 4; ++word) {
      const std::uint32_t added = key[(injection + word) % 5] + (word == 3 ? injection : 0);
      for (int i = 0; i < Together; ++i) x[word][i] += added;
    }
  }
};

// 0 where a draw is below the threshold, else the scale's bits.
inline Words decided(Words draw, std::uint32_t threshold, std::uint32_t scale) {
  return reinterpret_cast<Words>(draw >= threshold) & scale;
}

// Computes the masks of the registers starting at `first`; registers are counted from the block at `begin`.
template <int Together>
inline void draw(const DropoutRule& rule, const Threefry& threefry, std::uint64_t stream, std::int64_t begin,
                 std::int64_t first, float* mask) {
  std::uint32_t scale = 0;
  std::memcpy(&scale, &rule.scale, sizeof scale);
  const auto block = [&](int i) { return (first + i) * width / lanes * draws; };
  const auto lane = [&](int i) { return (first + i) * width % lanes; };
  Words x[4][Together];
  for (int i = 0; i < Together; ++i) {
    x[0][i] = counted(std::make_index_sequence<width>()) + static_cast<std::uint32_t>(begin + block(i) + lane(i));
    x[1][i] = Words{};
    x[2][i] = Words{} + static_cast<std::uint32_t>(stream);
    x[3][i] = Words{} + static_cast<std::uint32_t>(stream >> 32U);
  }
  threefry(x);
  for (int word = 0; word < 4; ++word) {
    for (int i = 0; i < Together; ++i) {
      float* place = mask + block(i) + 2 * word * lanes + lane(i);
      *reinterpret_cast<Words*>(place) = decided(x[word][i] & 0xFFFFU, rule.threshold, scale);
      *reinterpret_cast<Words*>(place + lanes) = decided(x[word][i] >> 16U, rule.threshold, scale);
    }
  }
}

template <int Blocks>
inline void draw_blocks(const DropoutRule& rule, const Threefry& threefry, std::uint64_t stream, std::int64_t begin,
                        float* mask) {
  constexpr int registers = Blocks * lanes / width;
  constexpr int together = registers < most_together ? registers : most_together;
  for (int first = 0; first < registers; first += together) {
    draw<together>(rule, threefry, stream, begin, first, mask);
  }
}

}  // namespace

void dropout_mask(const DropoutRule& rule, std::uint64_t stream, std::int64_t n, float* mask) {
  constexpr int blocks = most_together * width / lanes < 1 ? 1 : most_together * width / lanes;
  const Threefry threefry(rule.key);
  std::int64_t begin = 0;
  for (; begin + blocks * draws <= n; begin += blocks * draws) {
    draw_blocks<blocks>(rule, threefry, stream, begin, mask + begin);
  }
  for (; begin < n; begin += draws) {
    float last[draws];
    draw_blocks<1>(rule, threefry, stream, begin, last);
    std::memcpy(mask + begin, last, sizeof(float) * (n - begin < draws ? n - begin : draws));
  }
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
