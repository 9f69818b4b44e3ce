// What computes on the CPU: the level of processor that the loops are compiled for, and the library for the products.
// Both follow from what the processor can do, never from a timing, so that two runs on one machine are the same.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/simd/loops.h"

namespace attnscope::kernels {

enum class Level { baseline, avx2, avx512 };

// Those that this processor has, lowest first.
std::vector<Level> levels();

// The one in use: the highest, unless the environment's ATTNSCOPE_LEVEL (baseline, avx2, avx512) or a test holds it
// lower. Throws std::runtime_error when it names no level, or one that the processor does not have.
Level level();
void hold_to(Level level);

// As ATTNSCOPE_LEVEL names it, and as people do: "avx2", "AVX2".
std::string_view level_name(Level level);
std::string_view level_text(Level level);

// The loops of the level in use.
const Loops& loops();

}  // namespace attnscope::kernels
