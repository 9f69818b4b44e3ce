// From a corpus to the pieces that are trained on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"
#include "plain/callbacks.h"
#include "plain/config.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

struct EncodedPair {
  std::vector<int> source;  // pieces and </s>
  std::vector<int> target;  // pieces, without <s> and </s>
};

// A corpus as pieces: pairs, or for a language model running text, whose lines end with </s>.
struct Dataset {
  std::vector<EncodedPair> train;
  std::vector<EncodedPair> validation;
  std::int64_t too_long = 0;       // pairs left out because a side exceeds max_length
  std::int64_t unknown_label = 0;  // texts left out of validation because training has not seen their label
  std::vector<int> train_stream;
  std::vector<int> validation_stream;

  bool can_validate() const { return !validation.empty() || !validation_stream.empty(); }
};

// A SentencePiece model of the corpus's training part, as Tokenizer takes it. Of a classifier's corpus, the texts
// alone.
std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config, bool labelled = false);

// What the targets of the training part are, each once, in the order of their bytes. Throws CorpusError where they are
// too many to be labels.
std::vector<std::string> labels_of(const Corpus& corpus);

// Throws CorpusError when nothing is left to train on.
std::shared_ptr<const Dataset> encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                             const YieldCallback& yield);

// Whether the pair's target is none of the labels that the tokenizer has, which has some.
bool has_unknown_label(const Tokenizer& tokenizer, const Pair& pair);

// `pair` as pieces, </s> after the source; empty when a side is longer than max_length with its marks, or is a label
// that the tokenizer does not know.
std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length);

// A text as one stream: each line's pieces, and eos for each line feed. Of an overlong line, those of its passages.
// Where line feeds have pieces of their own (SpecialTokens::ends_lines), the text as it is, behind what stands before
// every text.
struct EncodedText {
  std::vector<int> stream;
  std::int64_t characters = 0;  // that the stream stands for: no spaces that SentencePiece drops or adds, all of an unk
};

EncodedText encode_text(const Tokenizer& tokenizer, std::string_view text, const YieldCallback& yield);

}  // namespace attnscope
