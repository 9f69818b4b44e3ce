// What an Inspection kept of the inside of a pass over one sentence (B = 1), in plain numbers.
#pragma once

#include <vector>

#include "model/inspection.h"
#include "plain/config.h"
#include "plain/flow.h"
#include "plain/head_inside.h"

namespace attnscope {

// The head at `place`, whose sublayer's numbers are `tensors`.
HeadInside to_head_inside(const HeadTensors& tensors, const HeadPlace& place, const ModelConfig& model);

std::vector<SublayerFlow> to_flow(const std::vector<FlowTensors>& sublayers);

}  // namespace attnscope
