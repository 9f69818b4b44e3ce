// Invalid external input: a file, a number, a text, an address.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace attnscope {

// A message quotes the rejected input, which may be megabytes; the middle of a longer message is removed.
inline constexpr std::size_t longest_message = 2000;  // bytes, approximately

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
};

}  // namespace attnscope
