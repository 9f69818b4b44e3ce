// How much of a text is looked at, so that a look never takes more memory than training can spare.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plain/config.h"

namespace attnscope {

// What all attention maps of one look take together, in bytes, at most: those of GPT-2's 12 layers of 12 heads over its
// whole context of 1024 pieces.
inline constexpr std::size_t largest_maps = std::size_t{576} << 20;

// Pieces of either side that are looked at, at most: model.max_length, or fewer where the maps of so many would take
// more than largest_maps.
std::int64_t longest_inspection(const ModelConfig& model);

}  // namespace attnscope
