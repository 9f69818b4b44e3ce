#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace attnscope {

inline bool quiet = false;  // --quiet: progress and news are kept to oneself; what went wrong is said all the same

// A line on stderr. That it cannot be written (a terminal that is gone, a full disk) is no reason to end what is done.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::fputs((fmt::format(format, std::forward<Args>(args)...) + '\n').c_str(), stderr);
}

// The same of what is only good to know.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  if (!quiet) say(format, std::forward<Args>(args)...);
}

}  // namespace attnscope
