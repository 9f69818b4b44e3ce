#include "config/heads.h"

#include <fmt/format.h>

#include "config/config.h"

namespace attnscope {

PartSize part_size(const ModelConfig& model, AttentionPart part) {
  constexpr PartSize none, one = {1, 1};
  if (model.captured) return model.captured->parts[static_cast<std::size_t>(part)];
  const bool uneven = part != AttentionPart::encoder && model.num_decoder_heads > 0;
  const int heads = static_cast<int>(uneven ? model.num_decoder_heads : model.num_heads);
  if (part == AttentionPart::cross) {
    if (model.is_classifier()) return model.pools_by_weights() ? one : none;
    if (model.is_recurrent()) return model.attention != "none" ? one : none;
    return model.has_encoder() && model.has_decoder() ? PartSize{static_cast<int>(model.num_decoder_layers), heads}
                                                      : none;
  }
  if (model.is_recurrent()) return none;
  if (part == AttentionPart::encoder)
    return model.has_encoder() ? PartSize{static_cast<int>(model.num_encoder_layers), heads} : none;
  return model.has_decoder() ? PartSize{static_cast<int>(model.num_decoder_layers), heads} : none;
}

bool is_causal(const ModelConfig& model, AttentionPart part) {
  return part == AttentionPart::decoder && (!model.captured || model.captured->causal);
}

const char* part_name(AttentionPart part) {
  constexpr std::array names = {"encoder", "decoder", "cross"};
  return names[static_cast<std::size_t>(part)];
}

std::string layer_and_head(int layer, int head) {
  return fmt::format("L{} H{}", layer + 1, head + 1);
}

std::string head_name(const HeadPlace& place, const ModelConfig& model) {
  const PartSize size = part_size(model, place.part);
  if (size.layers == 1 && size.heads == 1 && place.part == AttentionPart::cross) return part_name(place.part);
  return fmt::format("{} {}", part_name(place.part), layer_and_head(place.layer, place.head));
}

}  // namespace attnscope
