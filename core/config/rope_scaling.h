// Rotary embeddings for contexts longer than a model was first trained on: model.rope_scaling.
#pragma once

#include <vector>

#include "config/config.h"

namespace attnscope {

struct RotaryAngles {
  std::vector<double> frequencies;  // radians per position, one per pair of dimensions; 0: not rotated
  double magnitude = 1;             // of cos and sin; YaRN's are larger than 1
};

// The frequencies theta^(−2i/d) of a head of width d, changed by model.rope_scaling:
// - "none"
// - "linear:FACTOR": divided by the factor (position interpolation, 2306.15595 §2.3)
// - "dynamic:FACTOR,LENGTH": in texts of more than LENGTH tokens, theta grows with the text (dynamic NTK)
// - "llama3:FACTOR,LOW,HIGH,LENGTH": divided by the factor if a pair turns less than LOW times in the old context of
//   LENGTH tokens, unchanged if more than HIGH times, mixed in between (2407.21783 §3.4)
// - "yarn:FACTOR,SLOW,FAST,LENGTH,MAGNITUDE": the same by a ramp over the pairs (2309.00071 §3.2, §3.4)
// Throws ConfigError for any other text.
// `length` is that of the text. Only the first model.rotary_width dimensions are rotated.
RotaryAngles rotary_angles(const ModelConfig& config, std::int64_t length = 0);

}  // namespace attnscope
