// CPU dispatch: the instruction-set level of the compiled loops, and the library for matrix products. Both depend only
// on the processor's features, never on timings, so that two runs on one machine are identical.
#pragma once

#include <string_view>
#include <vector>

#include "model/kernels/simd/loops.h"

namespace attnscope::kernels {

enum class Level { baseline, avx2, avx512 };

// The levels that this processor supports, lowest first.
std::vector<Level> levels();

// The level in use: the highest, unless the environment variable ATTNSCOPE_LEVEL (baseline, avx2, avx512) or a test
// sets a lower one. Throws std::runtime_error if the variable names an unknown or unsupported level.
Level level();
void hold_to(Level level);

// The name for ATTNSCOPE_LEVEL, and for display: "avx2", "AVX2".
std::string_view level_name(Level level);
std::string_view level_text(Level level);

// The loops of the level in use.
const Loops& loops();

}  // namespace attnscope::kernels
