#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace attnscope {

inline bool quiet = false;  // --quiet: suppresses progress and news, but not errors

// Prints a line on stderr. Write failures (a closed terminal, a full disk) are ignored, so that they do not end the
// command.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::fputs((fmt::format(format, std::forward<Args>(args)...) + '\n').c_str(), stderr);
}

// The same for messages that --quiet suppresses.
template <typename... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  if (!quiet) say(format, std::forward<Args>(args)...);
}

}  // namespace attnscope
