// Inspects the model on one sentence and returns snapshots.
#pragma once

#include <functional>

#include "data/tokenizer/tokenizer.h"
#include "messages/callbacks.h"
#include "messages/probe.h"
#include "messages/snapshot.h"
#include "model/model.h"

namespace attnscope {

// One 1×H×Q×K tensor per layer → [layer][head] matrices.
AttentionMaps to_maps(const AttentionWeights& weights);

// Translates the probe's text greedily, beginning with its prefix, or follows its reference, and records all attention
// weights. A language model continues the text by up to 48 tokens; for these, half of a short context is reserved by
// dropping the start of the prompt. Each side is limited to longest_inspection tokens. `publish` receives first the
// tokens and encoder maps, then the complete snapshot, then, if requested, the decodings too; all without run, step and
// request. The model is frozen (SequenceModel::freeze). `yield` is called at every decoded token and may throw to
// cancel the rest.
void inspect_model(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe,
                   const std::function<void(Snapshot)>& publish, const YieldCallback& yield);

}  // namespace attnscope
