#pragma once

#include <cstddef>
#include <string_view>

namespace attnscope {

// Number of byte insertions, deletions, substitutions and swaps of neighbors from `a` to `b` (optimal string alignment:
// Damerau–Levenshtein distance with no position edited twice).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace attnscope
