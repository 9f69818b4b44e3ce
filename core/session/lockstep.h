// Two runs trained in turn, so that they are at the same step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "messages/engine.h"

namespace attnscope {

// Returns the engines with the fewest steps. A run that started later or was interrupted catches up first; from then on
// each round is one step of every run, in their order.
inline std::vector<Engine*> next_in_lockstep(const std::vector<Engine*>& engines) {
  const auto step = [](const Engine* engine) { return engine->status().step; };
  std::vector<Engine*> next;
  const std::int64_t fewest = step(*std::ranges::min_element(engines, {}, step));
  std::ranges::copy_if(engines, std::back_inserter(next), [&](const Engine* engine) { return step(engine) == fewest; });
  return next;
}

}  // namespace attnscope
