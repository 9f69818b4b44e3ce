// How well a model does by length, also beyond what it was trained on.
#pragma once

#include "corpus/corpus.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/length.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// Held-out pairs of the corpus by the words of their source, translated greedily; of the tasks that follow by rule
// (copy, reverse, sort, addition) also of lengths that the corpus has not, up to three times its longest. Of a language
// model the likelihood of every place of a window twice as long as its own. The model stands still; one without room
// for so many pieces is given it, but for learned positions, of which there are no more. `progress` may throw.
LengthResult measure_lengths(SequenceModel& model, const Tokenizer& tokenizer, const Corpus& corpus,
                             const LengthQuestion& question, const FractionCallback& progress);

}  // namespace attnscope
