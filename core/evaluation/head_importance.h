// What a model loses without each of its heads, on the validation part.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/head_importance.h"
#include "training/dataset.h"

namespace attnscope {

// The model stands still. `progress` may throw. A model without heads, and a run without validation part, have a
// problem.
HeadsResult inspect_heads(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                          const FractionCallback& progress);

// The same, quickly: over a few batches, without the fast estimate.
HeadsResult inspect_heads_quickly(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                                  const FractionCallback& progress);

}  // namespace attnscope
