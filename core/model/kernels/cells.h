// One step of a recurrent cell, all gates at once. from_input is W_ih x + b_ih and from_state is W_hh h + b_hh, with
// the gates' rows concatenated: B×4H in an LSTM (input, forget, candidate, output), B×3H in a GRU (reset, update,
// candidate).
#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

struct LstmState {
  torch::Tensor h, c;  // B×H
};

// Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000. c: B×H, before the step.
LstmState lstm_step(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& c);

// 1406.1078 §2.3, but the reset gate acts after the matrix, as in torch::nn, so W_hn h and its bias are computed with
// the other gates. h: B×H, before the step → after it.
torch::Tensor gru_step(const torch::Tensor& from_input, const torch::Tensor& from_state, const torch::Tensor& h);

}  // namespace attnscope::kernels
