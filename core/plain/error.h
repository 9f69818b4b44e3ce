// Something that came from outside and cannot be used: a file, a number, a text, an address.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

namespace attnscope {

// A message quotes what it refuses, and that may be megabytes: of a longer one the middle is left out.
inline constexpr std::size_t longest_message = 2000;  // bytes, about

class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message);
};

}  // namespace attnscope
