// The decoder's input in training: the target's tokens, or the model's own predictions (scheduled sampling).
#pragma once

#include "data/corpus/random.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// target_in, where each position after the first is replaced with probability 1 − teacher_forcing by the token that the
// model predicts for it (greedy; no gradient flows through the choice). Padding stays padding. 1: target_in itself
// (teacher forcing, Williams & Zipser 1989); 0: free running; in between: arXiv 1506.03099, with one draw per position
// for all rows. target_in: int64 B×T on the model's device.
torch::Tensor scheduled_sampling_inputs(SequenceModel& model, const torch::Tensor& target_in, const Memory& memory,
                                        double teacher_forcing, Random random);

}  // namespace attnscope
