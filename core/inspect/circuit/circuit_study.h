// Answers the window's questions about a circuit completely; obstacles are reported in the answer.
#pragma once

#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/study.h"
#include "model/model.h"

namespace attnscope {

// The context of the studies. The model is frozen; the corpus may be null.
struct CircuitGround {
  SequenceModel& model;
  const Tokenizer& tokenizer;
  const Corpus* corpus = nullptr;
};

CircuitResult answer(const CircuitGround& ground, const CircuitStudy& study, const FractionCallback& progress);
CorpusCircuit answer(const CircuitGround& ground, const CorpusCircuitStudy& study, const FractionCallback& progress);
SweepResult answer(const CircuitGround& ground, const SweepQuestion& question, const FractionCallback& progress);
ScoreSplit answer(const CircuitGround& ground, const ScoreQuestion& question, const FractionCallback& progress);
Trial answer(const CircuitGround& ground, const TrialStudy& study, const FractionCallback& progress);

}  // namespace attnscope
