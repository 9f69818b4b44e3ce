#include "model/kernels/packing.h"

namespace attnscope::kernels {

Packing packing_of(const torch::Tensor& given) {
  const torch::Tensor padding = given.contiguous();
  const std::int64_t batch_size = padding.size(0), longest = padding.size(1);
  const bool* const is_padding = padding.data_ptr<bool>();
  Packing packing = {torch::empty({batch_size + 1}, torch::kInt64), torch::empty({padding.numel()}, torch::kInt64),
                     longest};
  auto* const firsts = packing.firsts.data_ptr<std::int64_t>();
  auto* const places = packing.places.data_ptr<std::int64_t>();
  std::int64_t count = 0;
  for (std::int64_t place = 0; place < padding.numel(); ++place) {
    if (place % longest == 0) firsts[place / longest] = count;
    if (!is_padding[place]) places[count++] = place;
  }
  firsts[batch_size] = count;
  if (count == padding.numel()) return {};
  packing.places = packing.places.slice(0, 0, count);
  return packing;
}

}  // namespace attnscope::kernels
