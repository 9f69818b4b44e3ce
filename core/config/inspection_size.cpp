#include "config/inspection_size.h"

#include <algorithm>
#include <cmath>

#include "config/heads.h"

namespace attnscope {

std::int64_t longest_inspection(const ModelConfig& model) {
  double maps = 0;  // in maps of tokens × tokens, at most
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross}) {
    const PartSize size = part_size(model, part);
    maps += static_cast<double>(size.layers) * size.heads;
  }
  if (maps == 0) return model.max_length;
  const double tokens = std::sqrt(static_cast<double>(largest_maps / sizeof(float)) / maps);
  return std::min(model.max_length, static_cast<std::int64_t>(tokens));
}

}  // namespace attnscope
