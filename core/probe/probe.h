// The inside of the model on one sentence, as a snapshot.
#pragma once

#include <optional>
#include <string>

#include "model/model.h"
#include "plain/callbacks.h"
#include "plain/snapshot.h"
#include "tokenizer/tokenizer.h"

namespace attnscope {

// One 1×H×Q×K tensor a layer → [layer][head] matrices.
AttentionMaps to_maps(const AttentionWeights& weights);

// Translates `text` greedily, or follows `target` where one is given (teacher forcing), and keeps every weight on the
// way. A language model goes on with `text`, and then with `target`: up to 48 pieces, for which half of a short context
// is kept free by leaving out the prompt's beginning. `publish` gets the pieces and the encoder's maps first, then the
// whole; both without run, step and request.
// `breathe` is called at every decoded piece and may throw to abandon the rest.
void look_inside(SequenceModel& model, const Tokenizer& tokenizer, const std::string& text,
                 const std::optional<std::string>& target, const std::function<void(Snapshot)>& publish,
                 const Breath& breathe);

}  // namespace attnscope
