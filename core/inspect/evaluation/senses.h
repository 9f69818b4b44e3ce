// One word in many sentences of the corpus, layer by layer.
#pragma once

#include <string>

#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/senses.h"
#include "model/model.h"

namespace attnscope {

// The vectors of `word` (one word, case-insensitive) in at most most_occurrences sentences that fit the model, after
// the embedding and after every layer of the input's stack. Occurrences are grouped by the sense known to the built-in
// corpus; otherwise by the output token that attends to the word most, if the model has cross-attention. The model is
// frozen. `corpus` may be null. Obstacles are reported in SenseResult::problem.
SenseResult inspect_senses(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                           const CorpusConfig& config, const std::string& word, const YieldCallback& yield);

}  // namespace attnscope
