// Linear probes of labels that the corpus knows, in every layer.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "inspect/evaluation/token_sample.h"
#include "messages/senses.h"

namespace attnscope {

// The label of every token of a sample; empty: it has none. `knows_words`: the corpus is the built-in one.
std::vector<std::string> token_labels(const TokenSample& sample, const Tokenizer& tokenizer, TokenLabel label,
                                      bool knows_words);

// Adds the point of that step to the answer, and replaces its classes, layers and directions. `texts` are read for all
// labels but the sense, for which the whole corpus is searched. The model is frozen.
void add_probes(SequenceModel& model, const Tokenizer& tokenizer, const Corpus& corpus, const CorpusConfig& config,
                const std::vector<Batch>& texts, std::int64_t step, ProbingResult& answer, const YieldCallback& yield);

}  // namespace attnscope
