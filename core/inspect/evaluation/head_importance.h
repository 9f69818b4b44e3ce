// The loss increase on the validation part when each head is ablated.
#pragma once

#include "messages/callbacks.h"
#include "messages/head_importance.h"
#include "model/model.h"
#include "training/dataset.h"

namespace attnscope {

// The model is frozen. `progress` may throw. Reports a problem for a model without heads or a run without validation
// part.
HeadsResult inspect_heads(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                          const FractionCallback& progress);

// A faster version: over a few batches, without the gradient-based estimate.
HeadsResult inspect_heads_quickly(SequenceModel& model, const Dataset& dataset, std::int64_t batch_size,
                                  const FractionCallback& progress);

}  // namespace attnscope
