// A study: long work over the model as it stands when the study begins. It is posted, done between updates while looks
// and training go on, tells how far it is, can be taken back, and ends in one result that does not change any more.
#pragma once

#include <cstdint>
#include <variant>

#include "plain/embeddings.h"
#include "plain/evaluation.h"

namespace attnscope {

// How well the test part of the corpus is translated (greedily) or, by a language model, predicted.
struct HeldOutStudy {};

// The map of one embedding by exact t-SNE, of at most most_tsne_pieces: the most frequent ones.
struct TsneStudy {
  EmbeddingMatrix matrix = EmbeddingMatrix::source;
  double perplexity = 30;
};

using StudyQuestion = std::variant<HeldOutStudy, TsneStudy>;

struct StudyResult {
  std::uint64_t run = 0;  // as in Snapshot
  std::int64_t step = 0;  // optimizer updates that the weights have had
  std::variant<Evaluation, TextEvaluation, TsneMap> answer;
};

}  // namespace attnscope
