#include "plain/heads.h"

#include <fmt/format.h>

namespace attnscope {

const char* part_name(AttentionPart part) {
  switch (part) {
    case AttentionPart::encoder:
      return "encoder";
    case AttentionPart::decoder:
      return "decoder";
    case AttentionPart::cross:
      return "cross";
  }
  return "";
}

std::string head_name(const HeadPlace& place) {
  return fmt::format("{} L{} H{}", part_name(place.part), place.layer + 1, place.head + 1);
}

}  // namespace attnscope
