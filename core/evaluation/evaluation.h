// How good a model is on pairs, or on a text, that it has not seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/evaluation.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// The models stand still (SequenceModel::stand_still). `progress` is called at every decoded piece and every batch.

// Translates every source greedily (beam 1) or by beam search.
Evaluation evaluate_pairs(SequenceModel& model, const Tokenizer& tokenizer, std::span<const Pair> pairs,
                          std::int64_t beam, const FractionCallback& progress);

TextEvaluation evaluate_text(SequenceModel& model, const Tokenizer& tokenizer, std::string_view text,
                             const FractionCallback& progress);

// The words il and elle of a French sentence, in order: "L'animal … parce qu'il …" → {"il"}.
std::vector<std::string> pronouns(std::string_view french);

}  // namespace attnscope
