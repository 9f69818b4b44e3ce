// How good a model is on pairs it has not seen.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
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
  double bleu = 0;         // as sacrebleu, one reference a source
  std::int64_t exact = 0;  // translations equal to the reference
  std::vector<LengthScore> by_length;  // shortest first, only lengths that occur
  std::int64_t pronoun_pairs = 0;
  std::int64_t pronoun_right = 0;  // il/elle of the translation are those of the reference, in order
  std::int64_t pronoun_exact = 0;
};

using EvaluationProgress = std::function<void(double fraction)>;

// Translates every source greedily (beam 1) or by beam search.
Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const EvaluationProgress& progress);

// The words il and elle of a French sentence, in order: "L'animal … parce qu'il …" → {"il"}.
std::vector<std::string> pronouns(std::string_view french);

}  // namespace attnscope
