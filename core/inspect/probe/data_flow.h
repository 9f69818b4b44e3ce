// The matrices that flow through one box of the architecture, for a snapshot.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/data_flow.h"
#include "messages/snapshot.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// The available data of the pass that `whole` shows.
struct FlowPass {
  const Snapshot& whole;     // fully decoded; with `inside` if an attention box is requested
  const Inspection& record;  // of that pass, with its data flow
  const Memory& memory;      // undefined in a language model
  torch::Tensor features;    // B×T×D, the input of the output matrix
};

// If `wanted` requests something that does not exist, the nearest is shown or a problem is reported. The model is
// frozen.
DataFlow data_flow_of(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted, const FlowPass& pass);

}  // namespace attnscope
