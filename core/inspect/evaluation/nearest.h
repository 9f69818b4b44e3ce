// Contexts of the corpus with similar vectors.
#pragma once

#include <vector>

#include "inspect/evaluation/token_sample.h"
#include "messages/nearest.h"

namespace attnscope {

// The contexts in a sample of the batches whose states, queries, keys or head outputs have the largest cosines (−1 to
// 1) with those of a token of the question's text, one per sentence, largest first. NearestResult::problem says why
// there are none. `pairs` are those of the batches if the corpus knows the senses of its words, and otherwise none. The
// model is frozen.
NearestResult nearest_contexts(SequenceModel& model, const Tokenizer& tokenizer, const std::vector<Batch>& batches,
                               const PairList& pairs, const NearestQuestion& question, const YieldCallback& yield);

}  // namespace attnscope
