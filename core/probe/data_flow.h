// The matrices that go through one box of the architecture, as a snapshot holds them.
#pragma once

#include "kernels/libtorch.h"
#include "model/model.h"
#include "plain/data_flow.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// What there is of the pass that `whole` shows.
struct FlowPass {
  const Snapshot& whole;     // decoded to its end; with `inside` where an attention's box is wanted
  const Inspection& record;  // of that pass, with its flow
  const Memory& memory;      // undefined in a language model
  torch::Tensor features;    // B×T×D, what the logits are made of
};

// `wanted` may ask for what is not there: the nearest is shown, or a problem told. The model stands still.
DataFlow data_flow_of(SequenceModel& model, const Tokenizer& tokenizer, const FlowWanted& wanted, const FlowPass& pass);

}  // namespace attnscope
