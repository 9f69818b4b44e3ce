// Attribution of one generated token to the input.
#pragma once

#include "model/model.h"
#include "plain/attribution.h"
#include "plain/callbacks.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// For the model's own output. The model is frozen; `progress` may throw. Reported as one-sentence problems: a text
// without output or with fewer than two input tokens, and parts that need a residual stream the model does not have.
AttributionResult inspect_attribution(SequenceModel& model, const Tokenizer& tokenizer,
                                      const AttributionQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
