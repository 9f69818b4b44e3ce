// How good a model is on pairs, or on a text, that it has not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "tokenizer/tokenizer.h"
#include "training/batches.h"

namespace attnscope {

// A sum over target pieces, </s> included, without label smoothing.
struct NegativeLogLikelihood {
  double nats = 0;
  std::int64_t tokens = 0;  // target pieces without padding

  double per_token() const { return tokens == 0 ? 0 : nats / static_cast<double>(tokens); }
};

NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const EncodedPair> pairs,
                                              std::int64_t batch_size, const Breath& breathe);

inline constexpr std::int64_t all_windows = std::numeric_limits<std::int64_t>::max();

// Of a language model on a stream of text. It is read in windows of max_length pieces, one behind the other; the first
// begins with eos, as if a line had just ended, and every other with the last piece of the one before. So each piece is
// predicted once, from what its window holds to its left. Of more than `max_windows` windows, that many are taken,
// spread evenly and always the same.
NegativeLogLikelihood negative_log_likelihood(SequenceModel& model, std::span<const int> stream,
                                              std::int64_t batch_size, std::int64_t max_windows, const Breath& breathe);

// `pair` as pieces, </s> after the source; empty when a side is longer than max_length with its marks.
std::optional<EncodedPair> encode_pair(const Tokenizer& tokenizer, const Pair& pair, std::int64_t max_length);

// How well sources of like length are translated.
struct LengthScore {
  std::int64_t words = 0;  // of the longest source counted here; the shortest has one word fewer
  std::int64_t pairs = 0;
  std::int64_t exact = 0;
};

struct Evaluation {
  std::int64_t pairs = 0;
  std::int64_t too_long = 0;  // left out of everything below
  NegativeLogLikelihood nll;
  double bleu = 0;                     // as sacrebleu, one reference a source
  std::int64_t exact = 0;              // translations equal to the reference
  std::vector<LengthScore> by_length;  // shortest first, only lengths that occur
  std::int64_t pronoun_pairs = 0;
  std::int64_t pronoun_right = 0;  // il/elle of the translation are those of the reference, in order
  std::int64_t pronoun_exact = 0;
};

using EvaluationProgress = std::function<void(double fraction)>;

// Translates every source greedily (beam 1) or by beam search.
Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const EvaluationProgress& progress);

// How well a language model predicts a text.
struct TextEvaluation {
  NegativeLogLikelihood nll;
  std::int64_t characters = 0;  // that the pieces stand for, line ends included

  // Comparable under every tokenizer, but for one that does not know some of the characters: a run of unknown ones
  // costs no more than its one unk.
  double bits_per_character() const;
};

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const EvaluationProgress& progress);

// The words il and elle of a French sentence, in order: "L'animal … parce qu'il …" → {"il"}.
std::vector<std::string> pronouns(std::string_view french);

}  // namespace attnscope
