// The commands that the window has posted to the worker so far.
#pragma once

#include <variant>
#include <vector>

#include "shell/app_state.h"

namespace attnscope {

// The commands of one kind, in their order.
template <typename Kind>
std::vector<Kind> posted(const AppState& scope) {
  std::vector<Kind> found;
  for (const Command& command : scope.commands)
    if (const auto* kind = std::get_if<Kind>(&command)) found.push_back(*kind);
  return found;
}

}  // namespace attnscope
