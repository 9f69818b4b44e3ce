// The data-flow part of a snapshot, without a model.
#pragma once

#include "messages/batch_inspection.h"
#include "messages/data_flow.h"
#include "messages/snapshot.h"

namespace attnscope {

// A chain of ids, vectors, a linear map, moments and a softmax, as if they went through that box; with the parameters
// of a Transformer's first layer.
void add_data_flow(Snapshot& snapshot, const FlowWanted& wanted);

// Three pairs of 4, 3 and 2 pieces and their targets; a vocabulary of 10 pieces, ε 0.1, dropout 0.5.
BatchInspection fixture_batch();

}  // namespace attnscope
