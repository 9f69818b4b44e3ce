// The output matrix as it reads the residual stream.
#pragma once

#include <string>

#include "model/model.h"

namespace attnscope {

// The parameter as float32 on the CPU; undefined if the model has none of that name.
torch::Tensor parameter_named(const SequenceModel& model, const std::string& name);

// The output matrix V×D with centered rows (a change of all logits by one number changes no probability) and the gain
// of the stack's final norm (Elhage et al. 2021, "LayerNorm"), but not its division by each token's deviation.
// Undefined for a stack that no output matrix reads directly.
torch::Tensor readout(const SequenceModel& model, bool decoder);

}  // namespace attnscope
