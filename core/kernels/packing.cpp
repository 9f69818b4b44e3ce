#include "kernels/packing.h"

namespace attnscope::kernels {

Packing packing_of(const torch::Tensor& padding) {
  const torch::Tensor pieces = padding.logical_not();
  const torch::Tensor places = pieces.flatten().nonzero().squeeze(1);
  if (places.numel() == padding.numel()) return {};
  const torch::Tensor ends = pieces.sum(1).cumsum(0);  // int64 B
  return {torch::constant_pad_nd(ends, {1, 0}), places, padding.size(1)};
}

}  // namespace attnscope::kernels
