// A recurrent layer's gates and states, for a snapshot.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/recurrent_states.h"
#include "messages/snapshot.h"
#include "model/model.h"

namespace attnscope {

// `whole` must be fully decoded. The model is recurrent and frozen; `yield` is called between tokens.
RecurrentStates inspect_cells(SequenceModel& model, const Tokenizer& tokenizer, const RecurrentWanted& wanted,
                              const Snapshot& whole, const YieldCallback& yield);

}  // namespace attnscope
