#include "model/attention.h"

#include <cmath>

#include "model/initial_values.h"
#include "model/kernels/attention.h"
#include "model/kernels/linear.h"

namespace attnscope {
namespace {

// Initialized after the other projections, which fixes the order of random draws.
torch::nn::Linear out_projection(const ModelConfig& config) {
  const std::int64_t width = config.num_heads * config.head_width();
  if (WithoutInitialValues::in_force()) return xavier_linear(width, config.d_model, config.biases);
  return torch::nn::Linear(torch::nn::LinearOptions(width, config.d_model).bias(config.biases));
}

}  // namespace

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, bool relative_vectors)
    : num_heads_(config.num_heads),
      key_heads_(config.key_heads()),
      d_(config.head_width()),
      scaled_(config.scaled_attention),
      score_width_(config.scale_width()),
      cap_(config.score_cap),
      window_(config.window),
      dropout_(config.dropout),
      in_proj_weight_(
          register_parameter("in_proj_weight", torch::empty({(num_heads_ + 2 * key_heads_) * d_, config.d_model}))),
      out_proj_(register_module("out_proj", out_projection(config))) {
  if (config.biases) in_proj_bias_ = register_parameter("in_proj_bias", torch::zeros({in_proj_weight_.size(0)}));
  // For the stacked matrix fan_out is 3D: the variance of queries, keys and values is half of what three separate
  // matrices would get.
  if (begins_by_xavier(config)) {
    begin_by_xavier(in_proj_weight_);
  } else {
    for (torch::Tensor projection :
         in_proj_weight_.split_with_sizes({num_heads_ * d_, key_heads_ * d_, key_heads_ * d_}))
      begin_by_xavier(projection);
  }
  if (!WithoutInitialValues::in_force()) {
    torch::nn::init::xavier_uniform_(out_proj_->weight);
    if (config.biases) torch::nn::init::zeros_(out_proj_->bias);
  }
  if (config.query_key_norm) {
    q_norm_ = register_module("q_norm", Norm(config, d_, config.norm_epsilon));
    k_norm_ = register_module("k_norm", Norm(config, d_, config.norm_epsilon));
  }
  if (!relative_vectors) return;
  const std::int64_t num_distances = 2 * config.max_distance + 1;
  for (auto [name, vectors] : {std::pair("relative_k", &relative_k_), std::pair("relative_v", &relative_v_)}) {
    *vectors = register_parameter(name, torch::empty({num_distances, d_}));
    begin_by_xavier(*vectors);
  }
}

torch::Tensor MultiHeadAttentionImpl::attend_self(const torch::Tensor& x, const AttentionMask& mask,
                                                  const RelativePositions& positions, torch::Tensor* cache,
                                                  LayerInspection& inspection, AttentionPart part) {
  torch::Tensor projected = kernels::linear(x, in_proj_weight_, in_proj_bias_);  // B×Q×(Hd + 2Gd)
  if (q_norm_) projected = normalized(projected);
  if (positions.rotations.defined()) {  // cached keys have been rotated already
    const torch::Tensor own = positions.rotations.slice(0, positions.rotations.size(0) - x.size(1));
    const std::int64_t turning = num_heads_ + key_heads_;  // all but the values
    projected = kernels::rotate_heads(projected, turning, turning * d_, 1, own);
  }
  if (!cache) return attend(projected, {}, mask, positions, inspection, part);
  const torch::Tensor own = projected.slice(2, num_heads_ * d_);
  *cache = cache->defined() ? torch::cat({*cache, own}, 1) : own;
  return attend(projected.slice(2, 0, num_heads_ * d_), *cache, mask, positions, inspection, part);
}

torch::Tensor MultiHeadAttentionImpl::attend_memory(const torch::Tensor& x, const torch::Tensor& memory,
                                                    const AttentionMask& mask, torch::Tensor* cache,
                                                    LayerInspection& inspection) {
  torch::Tensor queries = kernels::linear(x, in_proj_weight_, in_proj_bias_, {0, num_heads_ * d_});
  if (q_norm_) queries = q_norm_(queries.unflatten(2, {num_heads_, d_})).flatten(2);
  if (!cache) return attend(queries, project(memory), mask, {}, inspection, AttentionPart::cross);
  if (!cache->defined()) *cache = project(memory);
  return attend(queries, *cache, mask, {}, inspection, AttentionPart::cross);
}

torch::Tensor MultiHeadAttentionImpl::project(const torch::Tensor& memory) {
  const torch::Tensor both = kernels::linear(memory, in_proj_weight_, in_proj_bias_, {num_heads_ * d_});
  if (!k_norm_) return both;
  const auto halves = both.unflatten(2, {2 * key_heads_, d_}).chunk(2, 2);
  return torch::cat({k_norm_(halves[0]), halves[1]}, 2).flatten(2);
}

torch::Tensor MultiHeadAttentionImpl::normalized(const torch::Tensor& projected) {
  const auto parts =
      projected.unflatten(2, {-1, d_}).split_with_sizes({num_heads_, key_heads_, key_heads_}, 2);  // B×Q×…×d
  return torch::cat({q_norm_(parts[0]), k_norm_(parts[1]), parts[2]}, 2).flatten(2);
}

// Query head h uses key head h div (H / G).
torch::Tensor MultiHeadAttentionImpl::for_all_heads(const torch::Tensor& memory) const {
  if (key_heads_ == num_heads_) return memory;
  return memory.unflatten(2, {2 * key_heads_, d_}).repeat_interleave(num_heads_ / key_heads_, 2).flatten(2);
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& queries, const torch::Tensor& memory,
                                             const AttentionMask& mask, const RelativePositions& positions,
                                             LayerInspection& inspection, AttentionPart part) {
  const bool scaled = scaled_ != inspection.has_other_scale();
  kernels::AttentionInput input;
  const bool together = !memory.defined() && key_heads_ == num_heads_;
  const std::int64_t width = num_heads_ * d_;
  input.queries = together ? queries : queries.slice(2, 0, width);
  if (!together) input.memory = for_all_heads(memory.defined() ? memory : queries.slice(2, width));
  input.num_heads = num_heads_;
  input.scale = scaled ? 1 / std::sqrt(score_width_) : 1;
  input.cap = cap_;
  input.dropout = is_training() ? dropout_ : 0;
  input.padding = mask.padding;
  input.look_ahead = mask.look_ahead;
  input.outside = mask.outside;
  input.query_packing = mask.query_packing;
  input.key_packing = mask.key_packing;
  input.bias = positions.bias;
  const bool relative = positions.distances.defined();
  if (relative) input.relative_k = relative_k_;
  if (relative) input.relative_v = relative_v_;
  input.distances = positions.distances;
  kernels::WeightsChange change;
  if (inspection.changes_weights(part)) {
    change = [&](const torch::Tensor& weights) { return inspection.changed(weights, part); };
  }
  const kernels::Attended attended = kernels::attend(input, change);
  inspection.keep_weights(attended.weights, part);
  const torch::Tensor side_by_side = inspection.side_by_side(attended.heads, num_heads_, part);  // B×Q×Hd
  const torch::Tensor output = kernels::linear(side_by_side, out_proj_->weight, out_proj_->bias);
  inspection.keep_head(part, [&] {
    const auto [q, k, v] = kernels::heads_of(input);
    return HeadTensors{
        q,
        k,
        v,
        relative ? kernels::relative_scores(q * input.scale, relative_k_, positions.distances) : positions.bias,
        input.relative_v,
        side_by_side,
        output,
        out_proj_->weight,
        out_proj_->bias.defined() ? out_proj_->bias : torch::zeros({output.size(2)}, output.options()),
        scaled,
        score_width_,
        cap_,
        part == AttentionPart::cross ? 0 : window_};
  });
  return output;
}

}  // namespace attnscope
