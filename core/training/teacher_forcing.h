// What the decoder is told while it trains: the target's pieces, or its own.
#pragma once

#include "corpus/random.h"
#include "kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// target_in with, at every position after the first, by chance 1 − teacher_forcing, the pieces that the model writes
// there having read what stands before them (greedy; no gradient goes through the choice). Padding stays padding.
// 1: target_in itself (teacher forcing, Williams & Zipser 1989); 0: it runs free; between: arXiv 1506.03099, with one
// draw a position for all rows. target_in: int64 B×T on the model's device.
torch::Tensor scheduled_sampling_inputs(SequenceModel& model, const torch::Tensor& target_in, const Memory& memory,
                                        double teacher_forcing, Random random);

}  // namespace attnscope
