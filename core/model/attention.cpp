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

// q_i · a^K_ij for every head: B×H×Q×d → B×H×Q×K. Each query meets the few distances first, then each key picks its own
// (1803.02155 §3.3).
torch::Tensor relative_scores(const torch::Tensor& q, const torch::Tensor& relative_k, const torch::Tensor& distances) {
  const torch::Tensor by_distance = torch::matmul(q, relative_k.t());  // B×H×Q×(2k+1)
  return by_distance.gather(3, distances.expand({q.size(0), q.size(1), -1, -1}));
}

// Σ_j w_ij a^V_ij: the weights are summed by distance first.
torch::Tensor relative_values(const torch::Tensor& weights, const torch::Tensor& relative_v,
                              const torch::Tensor& distances) {
  std::vector<std::int64_t> sizes = weights.sizes().vec();
  sizes[3] = relative_v.size(0);
  const torch::Tensor by_distance =
      torch::zeros(sizes, weights.options()).scatter_add(3, distances.expand(weights.sizes()), weights);
  return torch::matmul(by_distance, relative_v);  // B×H×Q×d
}

}  // namespace

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, bool relative_vectors)
    : num_heads_(config.num_heads),
      scale_(config.scaled_attention ? 1.0 / std::sqrt(static_cast<double>(config.d_model / config.num_heads)) : 1.0),
      dropout_(config.dropout),
      in_proj_weight_(register_parameter("in_proj_weight", torch::empty({3 * config.d_model, config.d_model}))),
      in_proj_bias_(register_parameter("in_proj_bias", torch::zeros({3 * config.d_model}))),
      out_proj_(register_module("out_proj", torch::nn::Linear(config.d_model, config.d_model))) {
  // Xavier by thirds: fan_out of each projection is D, not 3D.
  for (torch::Tensor projection : in_proj_weight_.chunk(3)) torch::nn::init::xavier_uniform_(projection);
  torch::nn::init::xavier_uniform_(out_proj_->weight);
  torch::nn::init::zeros_(out_proj_->bias);
  if (!relative_vectors) return;
  const std::int64_t num_distances = 2 * config.max_distance + 1;
  for (auto [name, vectors] : {std::pair("relative_k", &relative_k_), std::pair("relative_v", &relative_v_)}) {
    *vectors = register_parameter(name, torch::empty({num_distances, config.d_model / config.num_heads}));
    torch::nn::init::xavier_uniform_(*vectors);
  }
}

torch::Tensor MultiHeadAttentionImpl::split_heads(const torch::Tensor& x) const {
  return x.view({x.size(0), x.size(1), num_heads_, x.size(2) / num_heads_}).transpose(1, 2);  // B×H×L×d
}

torch::Tensor MultiHeadAttentionImpl::attend_self(const torch::Tensor& x, const AttentionMask& mask,
                                                  const RelativePositions& positions, KeyValues* cache,
                                                  LayerInspection& inspection, AttentionPart part) {
  const auto projected = torch::linear(x, in_proj_weight_, in_proj_bias_).split(x.size(2), 2);  // 3 of B×Q×D
  torch::Tensor q = split_heads(projected[0]);
  KeyValues kv{split_heads(projected[1]), split_heads(projected[2])};
  if (positions.rotations.defined()) {  // the keys in the cache have been rotated already
    const torch::Tensor own = positions.rotations.slice(0, positions.rotations.size(0) - x.size(1));
    q = rotate(q, own);
    kv.keys = rotate(kv.keys, own);
  }
  if (cache) {
    if (cache->keys.defined()) {
      kv.keys = torch::cat({cache->keys, kv.keys}, 2);
      kv.values = torch::cat({cache->values, kv.values}, 2);
    }
    *cache = kv;
  }
  return attend(q, kv, mask, positions, inspection, part);
}

torch::Tensor MultiHeadAttentionImpl::attend_memory(const torch::Tensor& x, const torch::Tensor& memory,
                                                    const AttentionMask& mask, KeyValues* cache,
                                                    LayerInspection& inspection) {
  const std::int64_t d_model = x.size(2);
  const torch::Tensor q =
      split_heads(torch::linear(x, in_proj_weight_.slice(0, 0, d_model), in_proj_bias_.slice(0, 0, d_model)));
  if (!cache) return attend(q, project(memory), mask, {}, inspection, AttentionPart::cross);
  if (!cache->keys.defined()) *cache = project(memory);
  return attend(q, *cache, mask, {}, inspection, AttentionPart::cross);
}

KeyValues MultiHeadAttentionImpl::project(const torch::Tensor& memory) {
  const std::int64_t d_model = memory.size(2);
  const auto projected =
      torch::linear(memory, in_proj_weight_.slice(0, d_model), in_proj_bias_.slice(0, d_model)).split(d_model, 2);
  return {split_heads(projected[0]), split_heads(projected[1])};
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& q, const KeyValues& kv, const AttentionMask& mask,
                                             const RelativePositions& positions, LayerInspection& inspection,
                                             AttentionPart part) {
  const torch::Tensor scaled = q * scale_;
  torch::Tensor scores = torch::matmul(scaled, kv.keys.transpose(2, 3));  // B×H×Q×K
  torch::Tensor bias = positions.bias;
  if (relative_k_.defined()) bias = relative_scores(scaled, relative_k_, positions.distances);
  if (bias.defined()) scores = scores + bias;
  const torch::Tensor weights = inspection.weights(torch::softmax(masked(scores, mask), -1), part);
  const torch::Tensor dropped = torch::dropout(weights, dropout_, is_training());
  torch::Tensor heads = torch::matmul(dropped, kv.values);  // B×H×Q×d
  if (relative_v_.defined()) heads = heads + relative_values(dropped, relative_v_, positions.distances);
  const torch::Tensor side_by_side = inspection.heads(heads, part).transpose(1, 2).flatten(2);  // B×Q×D
  const torch::Tensor output = out_proj_(side_by_side);
  inspection.keep_head(part, [&] {
    return HeadTensors{q,      kv.keys,           kv.values,      bias, relative_v_, side_by_side,
                       output, out_proj_->weight, out_proj_->bias};
  });
  return output;
}

}  // namespace attnscope
