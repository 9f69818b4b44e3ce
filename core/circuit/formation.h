// Formation of a circuit: the effect of its parts at earlier steps of training.
#pragma once

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/study.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The effects of the parts of `study`'s circuit in the model of `step`. Throws NotContrasting if the model cannot be
// compared, or lacks parts that the circuit names.
FormationPoint formation_point(SequenceModel& model, const Tokenizer& tokenizer, const FormationStudy& study,
                               std::int64_t step, const YieldCallback& yield = {});

}  // namespace attnscope
