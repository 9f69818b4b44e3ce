// Corpus statistics of the tokenizer's vocabulary.
#pragma once

#include <memory>

#include "corpus/corpus.h"
#include "plain/config.h"
#include "plain/embeddings.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// All tokens; with a corpus, the count of each in a sample of its training part, and the words that they are. `corpus`
// may be null.
std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer, const Corpus* corpus,
                                                const CorpusConfig& config);

}  // namespace attnscope
