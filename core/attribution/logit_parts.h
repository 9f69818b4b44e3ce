// A logit taken apart by what the decoder's residual stream is the sum of (direct logit attribution).
#pragma once

#include <span>
#include <vector>

#include "model/model.h"
#include "plain/attribution.h"

namespace attnscope {

// Of the logit of `wanted` at the last place of target_in: every norm on the way, in post-norm those between the layers
// too, is linear once its scale is held as it was in this pass, so the parts' sum is the logit. What a part does to the
// scales is in none of them. The model, a Transformer with a decoder, stands still; memory: of one source, or empty.
std::vector<LogitPart> logit_parts(SequenceModel& model, const Memory& memory, std::span<const int> target_in,
                                   int wanted);

}  // namespace attnscope
