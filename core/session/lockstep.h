// Two runs that learn in turn, so that they stand at the same step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "session/engine.h"

namespace attnscope {

// Those whose turn it is: the ones with the fewest updates. A run that begins later, or was cut short, catches up
// first; from then on each round is an update of every one, in their order.
inline std::vector<Engine*> next_in_lockstep(const std::vector<Engine*>& engines) {
  const auto step = [](const Engine* engine) { return engine->status().step; };
  std::vector<Engine*> next;
  const std::int64_t fewest = step(*std::ranges::min_element(engines, {}, step));
  std::ranges::copy_if(engines, std::back_inserter(next), [&](const Engine* engine) { return step(engine) == fewest; });
  return next;
}

}  // namespace attnscope
