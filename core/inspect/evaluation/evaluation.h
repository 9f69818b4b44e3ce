// Evaluates a model on unseen pairs or text.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attention_measures.h"
#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/evaluation.h"
#include "model/model.h"

namespace attnscope {

// The models are frozen (SequenceModel::freeze). `progress` is called at every decoded token and every batch.

// Translates every source greedily (beam 1) or by beam search.
Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const FractionCallback& progress);

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const FractionCallback& progress);

// The words il and elle of a French sentence, in order: "L'animal … parce qu'il …" → {"il"}.
std::vector<std::string> pronouns(std::string_view french);

// ---- which heads find the antecedent of "it"

// How often one head's largest weight from the pronoun falls on its antecedent.
struct AntecedentScore {
  AntecedentView view = AntecedentView::encoder_from_it;
  int layer = 0;
  int head = 0;
  std::int64_t found = 0;
  std::int64_t pairs = 0;  // pronoun pairs that this view can judge

  double share() const { return pairs == 0 ? 0 : static_cast<double>(found) / static_cast<double>(pairs); }
};

// Every head in every view, over the pairs that name an antecedent, measured on the model's own translation; best
// first. Empty if there are no such pairs.
std::vector<AntecedentScore> score_antecedents(SequenceModel& model, const Tokenizer& tokenizer,
                                               std::span<const Pair> pairs,
                                               const std::function<void(double fraction)>& progress);

}  // namespace attnscope
