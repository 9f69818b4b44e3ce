// Formation of a circuit: the effect of its parts at earlier steps of training.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/study.h"
#include "model/model.h"

namespace attnscope {

// The effects of the parts of `study`'s circuit in the model of `step`. Throws NotContrasting if the model cannot be
// compared, or lacks parts that the circuit names.
FormationPoint formation_point(SequenceModel& model, const Tokenizer& tokenizer, const FormationStudy& study,
                               std::int64_t step, const YieldCallback& yield = {});

}  // namespace attnscope
