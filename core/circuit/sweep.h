// Every place of a model, patched one after another.
#pragma once

#include "circuit/contrast_runs.h"
#include "plain/callbacks.h"
#include "plain/circuit.h"

namespace attnscope {

// kind: not exchange, which is between two words that somebody names.
Sweep sweep(const ContrastRuns& runs, ContrastSide of, ChangeKind kind, const YieldCallback& yield = {});

// By an exchange or along a path: see SweepQuestion. Cells that it cannot reach have a share of 0.
Sweep sweep(const ContrastRuns& runs, ContrastSide of, const SweepQuestion& asked, const YieldCallback& yield = {});

}  // namespace attnscope
