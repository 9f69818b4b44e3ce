// The outputs that a sentence can have, side by side.
#pragma once

#include <vector>

#include "decoding/search.h"
#include "kernels/libtorch.h"
#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/decodings.h"
#include "plain/interventions.h"
#include "plain/probe.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

inline constexpr std::int64_t longest_continuation = 48;  // pieces written after a prompt

// Pieces that may be written after this many of source or prompt, a steered prefix of `prefix` pieces among them.
std::int64_t writing_limit(const ModelConfig& model, std::size_t typed, std::size_t prefix);

// For what `whole` shows, which was decoded to its end: beam, samples, lens and the rest. With `whole.interventions`
// made to the model. `breathe` is called at every decoded piece of each, and may throw to abandon them.
Decodings find_decodings(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const Snapshot& whole,
                         const YieldCallback& yield);

// ---- what one hypothesis of a search attended to

struct HypothesisAttention {
  std::vector<int> queries;  // ids of the decoder's inputs; row t of a map is the step that read queries[t]
  std::vector<int> keys;     // ids of what is attended to
  AttentionMaps maps;        // none where the model has no such attention
};

// Cross-attention: the source is the keys. A language model has self-attention alone: queries and keys are prompt and
// continuation, the newest longest_inspection of them. source: int64 1×S, as the search was given it; `interventions`,
// where given, are made to the model.
HypothesisAttention attention_of(SequenceModel& model, const torch::Tensor& source, const Hypothesis& hypothesis,
                                 const Interventions* interventions = nullptr);

}  // namespace attnscope
