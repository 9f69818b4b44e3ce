// Attribution of one generated token to the input.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/attribution.h"
#include "messages/callbacks.h"
#include "model/model.h"

namespace attnscope {

// For the model's own output. The model is frozen; `progress` may throw. Reported as one-sentence problems: a text
// without output or with fewer than two input tokens, and parts that need a residual stream the model does not have.
AttributionResult inspect_attribution(SequenceModel& model, const Tokenizer& tokenizer,
                                      const AttributionQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
