#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace attnscope {

// A line on stderr. That it cannot be written (a terminal that is gone, a full disk) is no reason to end what is done.
template <typename... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  std::fputs((fmt::format(format, std::forward<Args>(args)...) + '\n').c_str(), stderr);
}

}  // namespace attnscope
