// A recurrent layer's gates and states, for a snapshot.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/recurrent_states.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// `whole` must be fully decoded. The model is recurrent and frozen; `yield` is called between tokens.
RecurrentStates inspect_cells(SequenceModel& model, const Tokenizer& tokenizer, const RecurrentWanted& wanted,
                              const Snapshot& whole, const YieldCallback& yield);

}  // namespace attnscope
