// Fits and applies the maps of the tuned lens (Belrose et al. 2023, arXiv 2303.08112).
#pragma once

#include <vector>

#include "messages/callbacks.h"
#include "model/model.h"
#include "training/adam.h"

namespace attnscope {

// Row r maps x, …×D, to x + weight[r] x + bias[r]: the paper's translator.
struct TunedLens {
  torch::Tensor weight;  // R×D×D
  torch::Tensor bias;    // R×D

  torch::Tensor translate(std::size_t row, const torch::Tensor& x) const;

  // With the names in the file.
  NamedTensors tensors() const { return {{"weight", weight}, {"bias", bias}}; }
};

// The logit lens.
TunedLens identity_lens(std::int64_t rows, std::int64_t width);

// Minimizes KL(output ‖ lens) of every row, beginning at the identity, to which a row returns if that is better on the
// last eighth of the tokens, which are not fitted. streams: N×R×D, the last row gives the output. The model is frozen.
TunedLens fit_tuned_lens(SequenceModel& model, const torch::Tensor& streams, const FractionCallback& progress);

// KL(output ‖ lens) of every row, in nats per token.
std::vector<double> lens_divergence(SequenceModel& model, const torch::Tensor& streams, const TunedLens& lens);

}  // namespace attnscope
