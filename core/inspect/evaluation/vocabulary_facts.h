// Corpus statistics of the tokenizer's vocabulary.
#pragma once

#include <memory>

#include "config/config.h"
#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/embeddings.h"

namespace attnscope {

// All tokens; with a corpus, the count of each in a sample of its training part, and the words that they are. `corpus`
// may be null.
std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer, const Corpus* corpus,
                                                const CorpusConfig& config);

}  // namespace attnscope
