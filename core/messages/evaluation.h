// Evaluation metrics on held-out data.
#pragma once

#include <cstdint>
#include <numbers>
#include <vector>

#include "messages/classes.h"

namespace attnscope {

// A sum over target tokens, including </s>, without label smoothing.
struct NegativeLogLikelihood {
  double nats = 0;
  std::int64_t tokens = 0;   // target tokens without padding; of a masked language model, those that were masked
  std::int64_t correct = 0;  // of these, the most probable token; only for a masked language model

  double accuracy() const { return tokens == 0 ? 0 : static_cast<double>(correct) / static_cast<double>(tokens); }
  double per_token() const { return tokens == 0 ? 0 : nats / static_cast<double>(tokens); }
};

// Translation quality for sources of similar length.
struct LengthScore {
  std::int64_t words = 0;  // maximum source length counted here; the shortest has one word fewer
  std::int64_t pairs = 0;
  std::int64_t exact = 0;
};

struct Evaluation {
  std::int64_t pairs = 0;
  std::int64_t too_long = 0;       // excluded from all fields below
  std::int64_t unknown_label = 0;  // likewise: texts of a class not seen in training
  NegativeLogLikelihood nll;
  double bleu = 0;                     // as in sacrebleu, one reference per source
  std::int64_t exact = 0;              // translations equal to the reference
  std::vector<LengthScore> by_length;  // shortest first, only lengths that occur
  std::int64_t pronoun_pairs = 0;
  std::int64_t pronoun_right = 0;  // the translation's il/elle match the reference, in order
  std::int64_t pronoun_exact = 0;
  Confusion confusion;  // of a classifier
};

// Prediction quality of a language model on a text.
struct TextEvaluation {
  NegativeLogLikelihood nll;
  std::int64_t characters = 0;  // covered by the tokens, including line ends

  // Comparable across tokenizers, unless one does not know some characters: a sequence of unknown ones costs only one
  // unk.
  double bits_per_character() const {
    return characters == 0 ? 0 : nll.nats / std::numbers::ln2 / static_cast<double>(characters);
  }
};

}  // namespace attnscope
