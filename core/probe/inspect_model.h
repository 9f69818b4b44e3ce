// The inside of the model on one sentence, as a snapshot.
#pragma once

#include <functional>

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/probe.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// One 1×H×Q×K tensor a layer → [layer][head] matrices.
AttentionMaps to_maps(const AttentionWeights& weights);

// Translates the probe's text greedily, beginning with its prefix, or follows its reference, and keeps every weight on
// the way. A language model goes on with the text: up to 48 pieces, for which half of a short context is kept free by
// leaving out the prompt's beginning. Of either side no more than longest_inspection is looked at. `publish` gets the
// pieces and the encoder's maps first, then the whole, then, if they are wanted, the decodings too; all without run,
// step and request. The model stands still (SequenceModel::freeze). `breathe` is called at every decoded piece and may
// throw to abandon the rest.
void inspect_model(SequenceModel& model, const Tokenizer& tokenizer, const Probe& probe,
                   const std::function<void(Snapshot)>& publish, const YieldCallback& yield);

}  // namespace attnscope
