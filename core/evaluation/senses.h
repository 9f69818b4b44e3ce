// One word in many sentences of the corpus, layer by layer.
#pragma once

#include <string>

#include "corpus/corpus.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/senses.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The vectors of `word` (one word, small or capital letters alike) in at most most_occurrences sentences that the model
// has room for, after the embedding and after every layer that reads them. Its occurrences are grouped by the sense
// that the built-in corpus knows; else by the output piece that attends to it most, where the model has
// cross-attention. The model stands still. `corpus` may be null. What stands in the way is said in
// SenseResult::problem.
SenseResult inspect_senses(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                           const CorpusConfig& config, const std::string& word, const YieldCallback& yield);

}  // namespace attnscope
