// One of the two runs in the window's memory: A, or B that it is compared with.
#pragma once

#include <cstdint>
#include <memory>

#include "analysis/curves.h"
#include "base/shown.h"
#include "messages/history.h"
#include "messages/messages.h"
#include "messages/snapshot.h"

namespace attnscope {

struct RunView {
  RunOpened run;  // run.run is 0 until the first run arrives
  Status status;
  Curves curves;
  History history;   // frames of the pinned sentences; a copy of the worker's
  Shown newest;      // may contain only tokens and encoder so far
  Shown complete;    // newest fully decoded one; shown until the next is complete
  Shown past;        // the recorded frame on display; no snapshot: the present. B's is the nearest to A's
  Shown inspection;  // newest forward pass through the weights of a recorded step; may belong to another frame than
                     // `past`
};

// Every snapshot on display gets a version of its own, counted in `versions`.
void receive(RunView& view, std::shared_ptr<const Snapshot> snapshot, std::uint64_t& versions);

}  // namespace attnscope
