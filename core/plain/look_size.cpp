#include "plain/look_size.h"

#include <algorithm>
#include <cmath>

#include "plain/heads.h"

namespace attnscope {

std::int64_t longest_look(const ModelConfig& model) {
  double maps = 0;  // each of as many rows and columns as there are pieces, at most
  for (const AttentionPart part : {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross}) {
    const PartSize size = part_size(model, part);
    maps += static_cast<double>(size.layers) * size.heads;
  }
  if (maps == 0) return model.max_length;
  const double pieces = std::sqrt(static_cast<double>(largest_maps / sizeof(float)) / maps);
  return std::min(model.max_length, static_cast<std::int64_t>(pieces));
}

}  // namespace attnscope
