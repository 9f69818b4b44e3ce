// Sequences of different lengths stored one after the other instead of padded to the longest, so that row-wise
// operations process only real tokens.
#pragma once

#include <cstdint>

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// B sequences as 1×N, where N is the number of non-padding rows of B×L. Empty: not packed.
struct Packing {
  torch::Tensor firsts = {};  // int64 B + 1: first row of each sequence; the last entry is N
  torch::Tensor places = {};  // int64 N: the non-padding indices among the B·L positions
  std::int64_t longest = 0;   // L

  explicit operator bool() const { return places.defined(); }
  std::int64_t batch_size() const { return firsts.numel() - 1; }

  // B×L → 1×N, for any element type.
  torch::Tensor packed(const torch::Tensor& ids) const { return ids.flatten().index_select(0, places).unsqueeze(0); }
  // Expands a table by position, L×…, to one entry per row: N×…
  torch::Tensor by_position(const torch::Tensor& table) const {
    return table.index_select(0, places.remainder(longest));
  }
};

// padding: bool B×L on the CPU, true after the end of a sequence. Empty if there is no padding.
Packing packing_of(const torch::Tensor& padding);

}  // namespace attnscope::kernels
