// What one hypothesis of a search attended to.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "decoding/search.h"
#include "model/model.h"
#include "plain/interventions.h"
#include "plain/snapshot.h"

namespace attnscope {

struct HypothesisAttention {
  std::vector<int> queries;  // ids of the decoder's inputs; row t of a map is the step that read queries[t]
  std::vector<int> keys;     // ids of what is attended to
  AttentionMaps maps;        // none where the model has no such attention
};

// Cross-attention: the source is the keys. A language model has self-attention alone: queries and keys are prompt and
// continuation, the newest max_length of them. source: int64 1×S, as the search was given it; `changes`, where given,
// are made to the model.
HypothesisAttention attention_of(SequenceModel& model, const torch::Tensor& source, const Hypothesis& hypothesis,
                                 const Interventions* changes = nullptr);

}  // namespace attnscope
