// Decomposes a logit into the contributions of the decoder's residual stream (direct logit attribution).
#pragma once

#include <span>
#include <vector>

#include "messages/attribution.h"
#include "model/model.h"

namespace attnscope {

// Decomposes the logit of `wanted` at the last position of target_in. Every norm on the way (in post-norm also those
// between layers) is linear if its scale is held at this pass's value, so the parts sum to the logit. The effect of a
// part on the scales is not included. The model, a Transformer with a decoder, is frozen; memory: of one source, or
// empty.
std::vector<LogitPart> logit_parts(SequenceModel& model, const Memory& memory, std::span<const int> target_in,
                                   int wanted);

}  // namespace attnscope
