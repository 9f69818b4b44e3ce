// Contexts of the corpus with similar vectors.
#pragma once

#include <vector>

#include "inspect/evaluation/token_sample.h"
#include "messages/nearest.h"

namespace attnscope {

// The contexts in a sample of the batches with the largest cosines. The model is frozen.
NearestResult nearest_contexts(SequenceModel& model, const Tokenizer& tokenizer, const std::vector<Batch>& batches,
                               const NearestQuestion& question, const YieldCallback& yield);

}  // namespace attnscope
