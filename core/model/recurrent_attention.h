// Attention of a recurrent decoder: additive (Bahdanau et al. 2014, arXiv 1409.0473 A.1.2) and Luong's three scores
// (Luong et al. 2015, arXiv 1508.04025 §3.1). Shape letters: model.h.
#pragma once

#include <string>

#include "model/kernels/libtorch.h"
#include "model/model.h"

namespace attnscope {

// The attention output for the decoder states.
struct Seen {
  torch::Tensor contexts;  // B×T×D, the weighted sums of the memory's states
  torch::Tensor weights;   // B×T×S, each row sums to 1
};

class RecurrentAttentionImpl : public torch::nn::Module {
 public:
  // score: a value of model.attention other than "none".
  RecurrentAttentionImpl(const std::string& score, std::int64_t d_model);

  // The part of a score that depends only on the source, computed once: B×S×D.
  torch::Tensor keys(const Memory& memory);

  // states: B×T×D, the querying decoder states; keys: those of the memory. An additive score allocates B×T×S×D numbers.
  // first: position of the first state in the pass, for the inspection's values.
  Seen attend(const torch::Tensor& states, const torch::Tensor& keys, const Memory& memory,
              Inspection* inspection = nullptr, std::int64_t first = 0);

  // h̃ = tanh(W_c[c; h]) (1508.04025 eq. 5): contexts c and states h, B×T×D each → B×T×D. Also used after Bahdanau's
  // attention, where the paper has a maxout layer.
  torch::Tensor readout(const torch::Tensor& contexts, const torch::Tensor& states);

 private:
  torch::Tensor scores(const torch::Tensor& states, const torch::Tensor& keys);

  torch::nn::Linear W_{nullptr}, U_{nullptr}, v_{nullptr};  // named as in the papers; unused ones are null
  torch::nn::Linear W_c_{nullptr};
};
TORCH_MODULE(RecurrentAttention);

}  // namespace attnscope
