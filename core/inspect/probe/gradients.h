// How far a loss reaches back through time and layers.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/gradients.h"
#include "model/model.h"

namespace attnscope {

// The gradients of one pass for the loss −log p of target_out[output], with all earlier tokens given; source and
// targets: one sentence's ids, no source for a language model. The model is frozen. `encoder.tokens` and
// `decoder.tokens` are left empty.
PassGradients gradients_of(SequenceModel& model, const std::vector<int>& source, const std::vector<int>& target_in,
                           int wanted_id, const Interventions& interventions, std::int64_t position = -1);

// For the model's own output. `progress` may throw.
GradientResult inspect_gradients(SequenceModel& model, const Tokenizer& tokenizer, const GradientQuestion& question,
                                 const FractionCallback& progress);

}  // namespace attnscope
