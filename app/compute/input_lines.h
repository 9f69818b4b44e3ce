// Lines of standard input.
#pragma once

#include <cstdint>
#include <string>

namespace attnscope {

inline constexpr std::size_t longest_line = 1 << 20;  // bytes; real lines are shorter, and tokens take far more memory

// Reads the next line, without a byte order mark and line end; false at the end. Of an overlong line only the beginning
// is stored.
bool next_line(std::string& line, std::int64_t number);

// True if reading more does not wait for someone who types.
bool has_next_line();

// Returns false, and says why on stderr, for a line that is too long or not UTF-8.
bool is_usable(const std::string& line, std::int64_t number);

}  // namespace attnscope
