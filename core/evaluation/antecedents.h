// Which heads know what "it" stands for.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "corpus/corpus.h"
#include "measures/attention_measures.h"
#include "model/model.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// How often one head's largest weight from the pronoun falls on its antecedent.
struct AntecedentScore {
  AntecedentView view = AntecedentView::encoder_from_it;
  int layer = 0;
  int head = 0;
  std::int64_t found = 0;
  std::int64_t pairs = 0;  // pronoun pairs that could be judged in this view

  double share() const { return pairs == 0 ? 0 : static_cast<double>(found) / static_cast<double>(pairs); }
};

// Every head in every view, over the pairs that name an antecedent, the model's own translation being looked at;
// the best first. Empty without such pairs.
std::vector<AntecedentScore> score_antecedents(SequenceModel& model, const Tokenizer& tokenizer,
                                               std::span<const Pair> pairs,
                                               const std::function<void(double fraction)>& progress);

}  // namespace attnscope
