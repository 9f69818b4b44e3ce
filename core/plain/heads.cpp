#include "plain/heads.h"

#include <fmt/format.h>

namespace attnscope {

const char* part_name(AttentionPart part) {
  constexpr std::array names = {"encoder", "decoder", "cross"};
  return names[static_cast<std::size_t>(part)];
}

std::string head_name(const HeadPlace& place) {
  return fmt::format("{} L{} H{}", part_name(place.part), place.layer + 1, place.head + 1);
}

}  // namespace attnscope
