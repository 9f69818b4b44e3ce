// How good a model is on what it has not seen: the numbers, however they were found.
#pragma once

#include <cstdint>
#include <numbers>
#include <vector>

#include "plain/classes.h"

namespace attnscope {

// A sum over target pieces, </s> included, without label smoothing.
struct NegativeLogLikelihood {
  double nats = 0;
  std::int64_t tokens = 0;  // target pieces without padding

  double per_token() const { return tokens == 0 ? 0 : nats / static_cast<double>(tokens); }
};

// How well sources of like length are translated.
struct LengthScore {
  std::int64_t words = 0;  // of the longest source counted here; the shortest has one word fewer
  std::int64_t pairs = 0;
  std::int64_t exact = 0;
};

struct Evaluation {
  std::int64_t pairs = 0;
  std::int64_t too_long = 0;       // left out of everything below
  std::int64_t unknown_label = 0;  // likewise: texts of a class that training has not seen
  NegativeLogLikelihood nll;
  double bleu = 0;                     // as sacrebleu, one reference a source
  std::int64_t exact = 0;              // translations equal to the reference
  std::vector<LengthScore> by_length;  // shortest first, only lengths that occur
  std::int64_t pronoun_pairs = 0;
  std::int64_t pronoun_right = 0;  // il/elle of the translation are those of the reference, in order
  std::int64_t pronoun_exact = 0;
  Confusion confusion;  // of a classifier
};

// How well a language model predicts a text.
struct TextEvaluation {
  NegativeLogLikelihood nll;
  std::int64_t characters = 0;  // that the pieces stand for, line ends included

  // Comparable under every tokenizer, but for one that does not know some of the characters: a run of unknown ones
  // costs no more than its one unk.
  double bits_per_character() const {
    return characters == 0 ? 0 : nll.nats / std::numbers::ln2 / static_cast<double>(characters);
  }
};

}  // namespace attnscope
