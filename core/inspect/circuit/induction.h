// Induction heads of a decoder-only model: measured on random repeated tokens, so it needs no corpus.
#pragma once

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/induction.h"
#include "model/model.h"

namespace attnscope {

// Why a model cannot be measured; empty: it can.
std::string induction_problem(const ModelConfig& config);

// The scores of the frozen model's heads; `step` is only noted.
InductionPoint induction_point(SequenceModel& model, const Tokenizer& tokenizer, std::int64_t step,
                               InductionResult& result, const YieldCallback& yield);

// Runs the model with heads ablated and with the first token masked; `result` has its points.
void add_trials(SequenceModel& model, const Tokenizer& tokenizer, InductionResult& result);

Composition composition(const SequenceModel& model);

TokenCircuits token_circuits(const SequenceModel& model, const Tokenizer& tokenizer, const HeadPlace& place);

}  // namespace attnscope
