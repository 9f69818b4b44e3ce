// Parts of a snapshot that exist only on request: one head's numbers, the sublayers' flow, a pass with interventions.
#pragma once

#include <memory>

#include "messages/snapshot.h"

namespace attnscope {

// A head of four, d_k = 8, whose numbers agree with one another; with what the positions of the snapshot's model add.
void add_inside(Snapshot& snapshot, const HeadPlace& place);

// For every layer of the snapshot, with d_ff = 32; half of the units are active.
void add_flow(Snapshot& snapshot);

// The same question to a changed model, which writes another last word; `untouched` is the snapshot as it was.
std::shared_ptr<Snapshot> changed_snapshot(const std::shared_ptr<const Snapshot>& untouched,
                                           const Interventions& interventions);

}  // namespace attnscope
