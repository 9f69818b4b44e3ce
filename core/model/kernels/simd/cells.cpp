// One step of the recurrent cells, all gates at once. Gates are concatenated: rows of G·H.
#include "model/kernels/simd/vectors.h"

namespace attnscope::ATTNSCOPE_LEVEL {

void lstm(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* c,
          float* gates, float* next_c, float* next_h) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * 4 * hidden;
#pragma omp simd
    for (std::int64_t j = 0; j < hidden; ++j) {
      const float input_gate = sigmoid(from_input[at + j] + from_state[at + j]);
      const float forget_gate = sigmoid(from_input[at + hidden + j] + from_state[at + hidden + j]);
      const float candidate = hyperbolic_tangent(from_input[at + 2 * hidden + j] + from_state[at + 2 * hidden + j]);
      const float output_gate = sigmoid(from_input[at + 3 * hidden + j] + from_state[at + 3 * hidden + j]);
      const float kept = forget_gate * c[row * hidden + j] + input_gate * candidate;
      gates[at + j] = input_gate;
      gates[at + hidden + j] = forget_gate;
      gates[at + 2 * hidden + j] = candidate;
      gates[at + 3 * hidden + j] = output_gate;
      next_c[row * hidden + j] = kept;
      next_h[row * hidden + j] = output_gate * hyperbolic_tangent(kept);
    }
  }
}

void lstm_backward(std::int64_t rows, std::int64_t hidden, const float* gates, const float* c, const float* next_c,
                   const float* dh, const float* dc_above, float* dgates, float* dc) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * 4 * hidden;
#pragma omp simd
    for (std::int64_t j = 0; j < hidden; ++j) {
      const float input_gate = gates[at + j];
      const float forget_gate = gates[at + hidden + j];
      const float candidate = gates[at + 2 * hidden + j];
      const float output_gate = gates[at + 3 * hidden + j];
      const float squashed = hyperbolic_tangent(next_c[row * hidden + j]);
      const float above = dh[row * hidden + j];
      const float dkept = dc_above[row * hidden + j] + above * output_gate * (1.0F - squashed * squashed);
      dgates[at + j] = dkept * candidate * input_gate * (1.0F - input_gate);
      dgates[at + hidden + j] = dkept * c[row * hidden + j] * forget_gate * (1.0F - forget_gate);
      dgates[at + 2 * hidden + j] = dkept * input_gate * (1.0F - candidate * candidate);
      dgates[at + 3 * hidden + j] = above * squashed * output_gate * (1.0F - output_gate);
      dc[row * hidden + j] = dkept * forget_gate;
    }
  }
}

void gru(std::int64_t rows, std::int64_t hidden, const float* from_input, const float* from_state, const float* h,
         float* gates, float* next_h) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * 3 * hidden;
#pragma omp simd
    for (std::int64_t j = 0; j < hidden; ++j) {
      const float reset_gate = sigmoid(from_input[at + j] + from_state[at + j]);
      const float update_gate = sigmoid(from_input[at + hidden + j] + from_state[at + hidden + j]);
      const float candidate =
          hyperbolic_tangent(from_input[at + 2 * hidden + j] + reset_gate * from_state[at + 2 * hidden + j]);
      gates[at + j] = reset_gate;
      gates[at + hidden + j] = update_gate;
      gates[at + 2 * hidden + j] = candidate;
      next_h[row * hidden + j] = candidate + update_gate * (h[row * hidden + j] - candidate);
    }
  }
}

void gru_backward(std::int64_t rows, std::int64_t hidden, const float* gates, const float* from_state, const float* h,
                  const float* dh_above, float* dfrom_input, float* dfrom_state, float* dh) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t at = row * 3 * hidden;
#pragma omp simd
    for (std::int64_t j = 0; j < hidden; ++j) {
      const float reset_gate = gates[at + j];
      const float update_gate = gates[at + hidden + j];
      const float candidate = gates[at + 2 * hidden + j];
      const float above = dh_above[row * hidden + j];
      const float dcandidate = above * (1.0F - update_gate) * (1.0F - candidate * candidate);
      const float dupdate = above * (h[row * hidden + j] - candidate) * update_gate * (1.0F - update_gate);
      const float dreset = dcandidate * from_state[at + 2 * hidden + j] * reset_gate * (1.0F - reset_gate);
      dfrom_input[at + j] = dfrom_state[at + j] = dreset;
      dfrom_input[at + hidden + j] = dfrom_state[at + hidden + j] = dupdate;
      dfrom_input[at + 2 * hidden + j] = dcandidate;
      dfrom_state[at + 2 * hidden + j] = dcandidate * reset_gate;
      dh[row * hidden + j] = above * update_gate;
    }
  }
}

}  // namespace attnscope::ATTNSCOPE_LEVEL
