// Quality by length, including lengths beyond training.
#pragma once

#include "data/corpus/corpus.h"
#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/length.h"
#include "model/model.h"

namespace attnscope {

// Translates held-out pairs greedily, grouped by the number of source words. For rule-based tasks (copy, reverse, sort,
// addition), also generates longer pairs, up to three times the corpus's maximum. For a language model, measures the
// likelihood at every position of a window twice as long as its own, and of a drawn corpus the accuracy, too. The model
// is frozen; one with too few positions is extended, except for learned positions. `progress` may throw.
LengthResult measure_lengths(SequenceModel& model, const Tokenizer& tokenizer, const Corpus& corpus,
                             const LengthQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
