#pragma once

#include "model/kernels/libtorch.h"

namespace attnscope::kernels {

// Cross-entropy with label smoothing in PyTorch's form (Szegedy et al. 1512.00567 §7): (1−ε)·NLL + (ε/V)·Σ_v(−log p_v),
// the mean over non-padding targets. logits: N×V; targets: int64 N, `padding_id` at padding. Same value and gradient as
// torch::nn::functional::cross_entropy, in one pass over the logits instead of four.
torch::Tensor smoothed_cross_entropy(const torch::Tensor& logits, const torch::Tensor& targets, double label_smoothing,
                                     std::int64_t padding_id);

// The same for the logits features · weightᵀ (N×D, V×D), which are computed a few rows at a time and never stored.
torch::Tensor projected_cross_entropy(const torch::Tensor& features, const torch::Tensor& weight,
                                      const torch::Tensor& targets, double label_smoothing, std::int64_t padding_id);

}  // namespace attnscope::kernels
