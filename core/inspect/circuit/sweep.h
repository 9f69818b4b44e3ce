// Patches every site of a model, one at a time.
#pragma once

#include "inspect/circuit/contrast_runs.h"
#include "messages/callbacks.h"
#include "messages/circuit.h"

namespace attnscope {

// kind: any but exchange, which needs two given words.
Sweep sweep(const ContrastRuns& runs, ContrastSide of, ChangeKind kind, const YieldCallback& yield = {});

// Sweeps by swapping attention or along a path: see SweepQuestion. Unreachable cells have a share of 0.
Sweep sweep(const ContrastRuns& runs, ContrastSide of, const SweepQuestion& asked, const YieldCallback& yield = {});

}  // namespace attnscope
