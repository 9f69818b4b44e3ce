#pragma once

#include <cstddef>
#include <string_view>

namespace attnscope {

// Bytes to put in, take out, change or exchange with the next one until `a` is `b` (optimal string alignment: the
// distance of Damerau and Levenshtein, no place changed twice).
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace attnscope
