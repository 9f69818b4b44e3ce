#pragma once

#include <vector>

#include "commands/measurement.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The attention workspace at its largest, drawn offscreen: 192 thumbnails that change with every frame beside a large
// map, and a sentence of 512 pieces from the model to the screen.
std::vector<Measurement> measure_maps(const Tokenizer& tokenizer);

}  // namespace attnscope
