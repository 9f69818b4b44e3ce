// A study: long work over the model as it stands when the study begins. It is posted, done between updates while looks
// and training go on, tells how far it is, can be taken back, and ends in one result that does not change any more.
#pragma once

#include <cstdint>
#include <variant>

#include "plain/evaluation.h"

namespace attnscope {

// How well the test part of the corpus is translated (greedily) or, by a language model, predicted.
struct HeldOutStudy {};

using StudyQuestion = std::variant<HeldOutStudy>;

struct StudyResult {
  std::uint64_t run = 0;  // as in Snapshot
  std::int64_t step = 0;  // optimizer updates that the weights have had
  std::variant<Evaluation, TextEvaluation> answer;
};

}  // namespace attnscope
