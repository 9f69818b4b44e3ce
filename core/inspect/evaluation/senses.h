// One word in many sentences of the corpus, layer by layer.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "inspect/evaluation/token_sample.h"
#include "messages/callbacks.h"
#include "messages/senses.h"
#include "model/model.h"

namespace attnscope {

// The vectors of a word after the embedding and after every layer, occurrences × D each, and what is known of its
// occurrences; no layers of that yet.
struct WordVectors {
  SenseResult about;
  std::vector<torch::Tensor> layers;
};
WordVectors word_vectors(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                         const CorpusConfig& config, const std::string& word, const YieldCallback& yield);

// Per token of a sample of the stack that reads texts: its word and the sense of the word there ("bank: rive"); empty
// where the corpus knows none. `pairs` are those of the sample.
std::vector<std::string> token_senses(const TokenSample& sample, const Tokenizer& tokenizer, const PairList& pairs);

// "embedding", "layer 1", …
std::string layer_name(std::size_t layer, const ModelConfig& model);

// The vectors of `word` (one word, case-insensitive) in at most most_occurrences sentences that fit the model, after
// the embedding and after every layer of the input's stack. Occurrences are grouped by the sense known to the built-in
// corpus; otherwise by the output token that attends to the word most, if the model has cross-attention. The model is
// frozen. `corpus` may be null. Obstacles are reported in SenseResult::problem.
SenseResult inspect_senses(SequenceModel& model, const Tokenizer& tokenizer, const Corpus* corpus,
                           const CorpusConfig& config, const std::string& word, const YieldCallback& yield);

}  // namespace attnscope
