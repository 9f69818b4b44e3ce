// From a corpus to the tokens of the training data.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/cache.h"
#include "config/config.h"
#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"

namespace attnscope {

// The tokens of a pair where they are stored.
struct PairTokens {
  std::span<const int> source;  // tokens and </s>
  std::span<const int> target;  // tokens, without <s> and </s>
};

struct EncodedPair {
  std::vector<int> source;
  std::vector<int> target;
  operator PairTokens() const { return {source, target}; }
};

// Pairs of tokens, in memory or in a mapped file.
class EncodedPairs {
 public:
  EncodedPairs() = default;
  EncodedPairs(std::initializer_list<EncodedPair> pairs) : EncodedPairs(std::vector<EncodedPair>(pairs)) {}
  EncodedPairs(const std::vector<EncodedPair>& pairs) {
    for (const EncodedPair& pair : pairs) push_back(pair);
  }
  EncodedPairs(Numbers<int> ids, Numbers<std::uint64_t> index) : ids_(std::move(ids)), index_(std::move(index)) {}

  std::size_t size() const { return index_.size() / 2; }
  bool empty() const { return size() == 0; }
  PairTokens operator[](std::size_t i) const {
    const std::uint64_t source = index_[2 * i], target = index_[2 * i + 1];
    const std::uint64_t end = 2 * i + 2 < index_.size() ? index_[2 * i + 2] : ids_.size();
    return {ids_.span().subspan(source, target - source), ids_.span().subspan(target, end - target)};
  }
  void push_back(const PairTokens& pair);  // not of a mapped file
  void pop_back();

 private:
  Numbers<int> ids_;
  Numbers<std::uint64_t> index_;  // where source and target of every pair begin
};

// A tokenized corpus: pairs, or for a language model running text whose lines end with </s>.
struct Dataset {
  EncodedPairs train;
  EncodedPairs validation;
  std::int64_t too_long = 0;       // pairs omitted because a side exceeds max_length
  std::int64_t unknown_label = 0;  // texts omitted from validation because their label does not occur in training
  Numbers<int> train_stream;
  Numbers<int> validation_stream;
  // Of a drawn corpus (Corpus::drawn): whether each token of the validation stream follows from those before it; and a
  // function that draws a window of max_length + 1 tokens, the first of which is a line end.
  std::vector<bool> determined;
  std::function<std::vector<int>(Random& random)> draw_window;
  std::vector<bool> begins_word;  // by token id, only for a masked language model

  bool can_validate() const { return !validation.empty() || !validation_stream.empty(); }
};

// Trains a SentencePiece model on the corpus's training part, in the form that Tokenizer accepts. For a classifier
// only on the texts; for a masked language model with a mask token. Both this and encode_corpus store their result for
// a large corpus, and read it if it was stored.
std::string train_tokenizer(const Corpus& corpus, const TokenizerConfig& config, const ModelConfig& model,
                            const YieldCallback& yield = {});

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
