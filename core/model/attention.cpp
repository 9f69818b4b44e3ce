#include "model/attention.h"

#include <cmath>
#include <limits>

namespace attnscope {
namespace {

// −∞ where a key is masked, so that softmax gives it exactly zero. B×1×1×K and Q×K broadcast to B×H×Q×K.
torch::Tensor masked(torch::Tensor scores, const AttentionMask& mask) {
  const double minus_infinity = -std::numeric_limits<double>::infinity();
  if (mask.padding.defined()) scores = scores.masked_fill(mask.padding.unsqueeze(1).unsqueeze(2), minus_infinity);
  if (mask.look_ahead.defined()) scores = scores.masked_fill(mask.look_ahead, minus_infinity);
  return scores;
}

}  // namespace

MultiHeadAttentionImpl::MultiHeadAttentionImpl(std::int64_t d_model, std::int64_t num_heads, double dropout)
    : num_heads_(num_heads),
      dropout_(dropout),
      in_proj_weight_(register_parameter("in_proj_weight", torch::empty({3 * d_model, d_model}))),
      in_proj_bias_(register_parameter("in_proj_bias", torch::zeros({3 * d_model}))),
      out_proj_(register_module("out_proj", torch::nn::Linear(d_model, d_model))) {
  // Xavier by thirds: fan_out of each projection is D, not 3D.
  for (torch::Tensor projection : in_proj_weight_.chunk(3)) torch::nn::init::xavier_uniform_(projection);
  torch::nn::init::xavier_uniform_(out_proj_->weight);
  torch::nn::init::zeros_(out_proj_->bias);
}

torch::Tensor MultiHeadAttentionImpl::split_heads(const torch::Tensor& x) const {
  return x.view({x.size(0), x.size(1), num_heads_, x.size(2) / num_heads_}).transpose(1, 2);  // B×H×L×d
}

AttentionOutput MultiHeadAttentionImpl::forward(const torch::Tensor& x, const torch::Tensor& memory,
                                                const AttentionMask& mask) {
  const std::int64_t d_model = x.size(2);
  torch::Tensor q, k, v;
  if (x.is_same(memory)) {
    const auto projected = torch::linear(x, in_proj_weight_, in_proj_bias_).split(d_model, 2);  // 3 of B×Q×D
    q = split_heads(projected[0]);
    k = split_heads(projected[1]);
    v = split_heads(projected[2]);
  } else {
    const auto weights = in_proj_weight_.split({d_model, 2 * d_model});
    const auto biases = in_proj_bias_.split({d_model, 2 * d_model});
    const auto projected = torch::linear(memory, weights[1], biases[1]).split(d_model, 2);  // 2 of B×K×D
    q = split_heads(torch::linear(x, weights[0], biases[0]));
    k = split_heads(projected[0]);
    v = split_heads(projected[1]);
  }
  const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
  const torch::Tensor scores = torch::matmul(q * scale, k.transpose(2, 3));  // B×H×Q×K
  const torch::Tensor weights = torch::softmax(masked(scores, mask), -1);
  torch::Tensor heads = torch::matmul(torch::dropout(weights, dropout_, is_training()), v);  // B×H×Q×d
  heads = heads.transpose(1, 2).reshape({x.size(0), x.size(1), d_model});                    // B×Q×D
  return {out_proj_(heads), weights};
}

}  // namespace attnscope
