#pragma once

#include <cstdint>
#include <memory>

#include "plain/snapshot.h"

namespace attnscope {

// A snapshot on the screen, and a number that changes whenever it does: the version of the textures made from it.
struct Shown {
  std::shared_ptr<const Snapshot> snapshot;
  std::uint64_t version = 0;
};

// Whether it was recorded, and is not the answer to a Probe of the window.
inline bool is_recorded(const Snapshot& snapshot) {
  return snapshot.request == 0;
}

// In place of what recorded frames do not hold.
inline constexpr const char* recorded_note =
    "Recorded steps keep maps and decoding only: return to live (below) to see this";

}  // namespace attnscope
