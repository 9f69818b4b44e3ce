// Limits the inspected text, so that an inspection never takes more memory than training can spare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "config/config.h"

namespace attnscope {

// Maximum size of all attention maps of one inspection, in bytes: that of GPT-2's 12 layers of 12 heads over its whole
// context of 1024 tokens.
inline constexpr std::size_t largest_maps = std::size_t{576} << 20;

// Maximum number of inspected tokens per side: model.max_length, or fewer if their maps would exceed largest_maps.
std::int64_t longest_inspection(const ModelConfig& model);

}  // namespace attnscope
