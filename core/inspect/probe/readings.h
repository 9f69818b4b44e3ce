// The alternative outputs for a sentence.
#pragma once

#include <functional>
#include <vector>

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/decodings.h"
#include "messages/interventions.h"
#include "messages/probe.h"
#include "messages/snapshot.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"
#include "training/decoding/search.h"

namespace attnscope {

inline constexpr std::int64_t longest_continuation = 48;  // tokens generated after a prompt

// The number of tokens that may be generated after this many source or prompt tokens, including a forced prefix of
// `prefix` tokens.
std::int64_t writing_limit(const ModelConfig& model, std::size_t typed, std::size_t prefix);

// For the fully decoded snapshot `whole`: beam, samples, logit lens and the rest, with `whole.interventions` applied.
// `yield` is called at every decoded token of each, and may throw to cancel.
Decodings find_decodings(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe, const Snapshot& whole,
                         const YieldCallback& yield);

// ---- the logit lens

// The residual stream that each row of the lens reads, B×T×D, from a pass that records sublayers and hidden states.
struct LensStream {
  int layer = 0;
  std::optional<Sublayer> within;
  torch::Tensor stream;
};
std::vector<LensStream> lens_streams(const Inspection& pass);

// The map of a row's residual stream before it is read.
using LensTranslation = std::function<torch::Tensor(std::size_t row, const torch::Tensor& stream)>;

// The rows for the output of the snapshot, which is fully decoded.
std::vector<LensRow> lens_rows(SequenceModel& model, const Tokenizer& tokenizer, const Snapshot& whole,
                               const LensTranslation& translate, const YieldCallback& yield);

// ---- attention of one hypothesis of a search

struct HypothesisAttention {
  std::vector<int> queries;  // ids of the decoder's inputs; row t of a map belongs to the step with input queries[t]
  std::vector<int> keys;     // ids of the keys
  AttentionMaps maps;        // empty if the model has no such attention
};

// With cross-attention, the source tokens are the keys. A language model has only self-attention: queries and keys are
// prompt and continuation, the newest longest_inspection tokens. source: int64 1×S, as given to the search;
// `interventions`, if not null, are applied.
HypothesisAttention attention_of(SequenceModel& model, const torch::Tensor& source, const Hypothesis& hypothesis,
                                 const Interventions* interventions = nullptr);

}  // namespace attnscope
