// Identifies an attention sublayer and head.
#pragma once

#include <array>
#include <string>

namespace attnscope {

struct ModelConfig;

// The three uses of attention in the paper's figure 1 (§3.2.3).
enum class AttentionPart { encoder, decoder, cross };

inline constexpr std::array attention_parts = {AttentionPart::encoder, AttentionPart::decoder, AttentionPart::cross};

struct HeadPlace {
  AttentionPart part = AttentionPart::encoder;
  int layer = 0;
  int head = 0;
  bool operator==(const HeadPlace&) const = default;
};

// The number of heads and layers of a part; 0 if the model has no such attention.
struct PartSize {
  int layers = 0;
  int heads = 0;
  bool operator==(const PartSize&) const = default;
};
PartSize part_size(const ModelConfig& model, AttentionPart part);

// Returns whether no query of that attention sees a later key (look-ahead mask, §3.2.3).
bool is_causal(const ModelConfig& model, AttentionPart part);

// "encoder", "decoder", "cross".
const char* part_name(AttentionPart part);

// "L2 H3".
std::string layer_and_head(int layer, int head);

// "encoder L2 H3"; "cross" if the model has only one such attention.
std::string head_name(const HeadPlace& place, const ModelConfig& model);

}  // namespace attnscope
