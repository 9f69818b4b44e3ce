// Sequences of different lengths one after the other instead of padded to the longest: what is computed row by row is
// then computed for nothing but pieces.
#pragma once

#include <cstdint>

#include "kernels/libtorch.h"

namespace attnscope::kernels {

// B sequences as 1×N, N rows being what B×L has without its padding. An empty one: they are not packed.
struct Packing {
  torch::Tensor firsts = {};  // int64 B + 1: the row each begins in; the last is N
  torch::Tensor places = {};  // int64 N: of the B·L places, those that are no padding
  std::int64_t longest = 0;   // L

  explicit operator bool() const { return places.defined(); }
  std::int64_t batch_size() const { return firsts.numel() - 1; }

  // B×L → 1×N, whatever the elements.
  torch::Tensor packed(const torch::Tensor& ids) const { return ids.flatten().index_select(0, places).unsqueeze(0); }
  // What each position has, L×…, for every row: N×…
  torch::Tensor by_position(const torch::Tensor& table) const {
    return table.index_select(0, places.remainder(longest));
  }
};

// padding: bool B×L on the CPU, true behind the end of a sequence. Empty if there is none.
Packing packing_of(const torch::Tensor& padding);

}  // namespace attnscope::kernels
