// What the corpus knows of the tokenizer's pieces.
#pragma once

#include <memory>

#include "corpus/corpus.h"
#include "plain/config.h"
#include "plain/embeddings.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// All pieces; with a corpus, how often each comes in a sample of its training part, and what words they are. `corpus`
// may be null.
std::shared_ptr<const Vocabulary> vocabulary_of(const Tokenizer& tokenizer, const Corpus* corpus,
                                                const CorpusConfig& config);

}  // namespace attnscope
