// From a corpus to the tokens of the training data.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"

namespace attnscope {

struct EncodedPair {
  std::vector<int> source;  // tokens and </s>
  std::vector<int> target;  // tokens, without <s> and </s>
};

// A tokenized corpus: pairs, or for a language model running text whose lines end with </s>.
struct Dataset {
  std::vector<EncodedPair> train;
  std::vector<EncodedPair> validation;
  std::int64_t too_long = 0;       // pairs omitted because a side exceeds max_length
  std::int64_t unknown_label = 0;  // texts omitted from validation because their label does not occur in training
  std::vector<int> train_stream;
  std::vector<int> validation_stream;
  // Of a drawn corpus (Corpus::drawn): whether each token of the validation stream follows from those before it; and a
  // function that draws a window of max_length + 1 tokens, the first of which is a line end.
  std::vector<bool> determined;
  std::function<std::vector<int>(Random& random)> draw_window;
  std::vector<bool> begins_word;  // by token id, only for a masked language model

  bool can_validate() const { return !validation.empty() || !validation_stream.empty(); }
};

// Trains a SentencePiece model on the corpus's training part, in the form that Tokenizer accepts. For a classifier
// only on the texts; for a masked language model with a mask token.
std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config, const ModelConfig& model);

// The distinct targets of the training part, sorted by bytes. Throws CorpusError if there are too many to be labels.
std::vector<std::string> labels_of(const Corpus& corpus);

// Throws CorpusError if no training data is left. `progress` may throw to cancel.
std::shared_ptr<const Dataset> encode_corpus(const Corpus& corpus, const Tokenizer& tokenizer, const ModelConfig& model,
                                             const FractionCallback& progress);

// True if the tokenizer has labels and the pair's target is none of them.
bool has_unknown_label(const Tokenizer& tokenizer, const Pair& pair);

// `pair` as tokens, with </s> after the source; empty if a side with its special tokens exceeds max_length, or if it is
// a label that the tokenizer does not know.
std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length);

// A text as one stream: each line's tokens, and eos for each line feed. An overlong line is encoded passage by passage.
// If line feeds have their own tokens (SpecialTokens::ends_lines), the text is encoded as is, after the tokens that
// precede every text.
struct EncodedText {
  std::vector<int> stream;
  std::int64_t characters = 0;  // in the text: no spaces that SentencePiece drops or adds, but all of an unk
};

EncodedText encode_text(const Tokenizer& tokenizer, std::string_view text, const YieldCallback& yield);

}  // namespace attnscope
