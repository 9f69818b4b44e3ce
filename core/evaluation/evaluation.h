// How good a model is on pairs, or on a text, that it has not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attention_measures.h"
#include "corpus/corpus.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/evaluation.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The models stand still (SequenceModel::freeze). `progress` is called at every decoded piece and every batch.

// Translates every source greedily (beam 1) or by beam search.
Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const FractionCallback& progress);

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const FractionCallback& progress);

// The words il and elle of a French sentence, in order: "L'animal … parce qu'il …" → {"il"}.
std::vector<std::string> pronouns(std::string_view french);

// ---- which heads know what "it" stands for

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
