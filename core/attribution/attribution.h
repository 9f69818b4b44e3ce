// Why one piece was written: the study.
#pragma once

#include "model/model.h"
#include "plain/attribution.h"
#include "plain/callbacks.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// Of what the model itself writes. The model stands still; `progress` may throw. Reported as problems, in one sentence:
// a text of which nothing is written or of which less than two pieces are read, and parts where there is no residual
// stream.
AttributionResult inspect_attribution(SequenceModel& model, const Tokenizer& tokenizer,
                                      const AttributionQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
