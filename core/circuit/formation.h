// How a circuit came to be: what its parts moved at earlier steps of the training.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/study.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// What the parts of the circuit of `study` move in a model that stands at `step`. Throws NotContrasting if the model
// cannot be asked, or has not the parts that the circuit names.
FormationPoint formation_point(SequenceModel& model, const Tokenizer& tokenizer, const FormationStudy& study,
                               std::int64_t step, const YieldCallback& yield = {});

}  // namespace attnscope
