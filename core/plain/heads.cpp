#include "plain/heads.h"

#include <fmt/format.h>

#include "plain/config.h"

namespace attnscope {

const char* part_name(AttentionPart part) {
  constexpr std::array names = {"encoder", "decoder", "cross"};
  return names[static_cast<std::size_t>(part)];
}

std::string layer_and_head(int layer, int head) {
  return fmt::format("L{} H{}", layer + 1, head + 1);
}

std::string head_name(const HeadPlace& place, const ModelConfig& model) {
  if (model.is_recurrent()) return part_name(place.part);
  return fmt::format("{} {}", part_name(place.part), layer_and_head(place.layer, place.head));
}

}  // namespace attnscope
