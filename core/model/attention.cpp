#include "model/attention.h"

#include <cmath>

#include "kernels/attention.h"
#include "kernels/linear.h"

namespace attnscope {

MultiHeadAttentionImpl::MultiHeadAttentionImpl(const ModelConfig& config, bool relative_vectors)
    : d_model_(config.d_model),
      num_heads_(config.num_heads),
      scaled_(config.scaled_attention),
      dropout_(config.dropout),
      in_proj_weight_(register_parameter("in_proj_weight", torch::empty({3 * config.d_model, config.d_model}))),
      in_proj_bias_(register_parameter("in_proj_bias", torch::zeros({3 * config.d_model}))),
      out_proj_(register_module("out_proj", torch::nn::Linear(config.d_model, config.d_model))) {
  // As one matrix, fan_out is 3D: queries, keys and values begin with half the variance that they have by thirds.
  if (begins_by_xavier(config)) {
    torch::nn::init::xavier_uniform_(in_proj_weight_);
  } else {
    for (torch::Tensor projection : in_proj_weight_.chunk(3)) torch::nn::init::xavier_uniform_(projection);
  }
  torch::nn::init::xavier_uniform_(out_proj_->weight);
  torch::nn::init::zeros_(out_proj_->bias);
  if (!relative_vectors) return;
  const std::int64_t num_distances = 2 * config.max_distance + 1;
  for (auto [name, vectors] : {std::pair("relative_k", &relative_k_), std::pair("relative_v", &relative_v_)}) {
    *vectors = register_parameter(name, torch::empty({num_distances, config.d_model / config.num_heads}));
    torch::nn::init::xavier_uniform_(*vectors);
  }
}

torch::Tensor MultiHeadAttentionImpl::attend_self(const torch::Tensor& x, const AttentionMask& mask,
                                                  const RelativePositions& positions, torch::Tensor* cache,
                                                  LayerInspection& inspection, AttentionPart part) {
  torch::Tensor projected = kernels::linear(x, in_proj_weight_, in_proj_bias_);  // B×Q×3D
  if (positions.rotations.defined()) {  // the keys in the cache have been rotated already
    const torch::Tensor own = positions.rotations.slice(0, positions.rotations.size(0) - x.size(1));
    projected = kernels::rotate_heads(projected, num_heads_, d_model_, 2, own);
  }
  if (!cache) return attend(projected, {}, mask, positions, inspection, part);
  const torch::Tensor own = projected.slice(2, d_model_);
  *cache = cache->defined() ? torch::cat({*cache, own}, 1) : own;
  return attend(projected.slice(2, 0, d_model_), *cache, mask, positions, inspection, part);
}

torch::Tensor MultiHeadAttentionImpl::attend_memory(const torch::Tensor& x, const torch::Tensor& memory,
                                                    const AttentionMask& mask, torch::Tensor* cache,
                                                    LayerInspection& inspection) {
  const torch::Tensor queries = kernels::linear(x, in_proj_weight_, in_proj_bias_, {0, d_model_});
  if (!cache) return attend(queries, project(memory), mask, {}, inspection, AttentionPart::cross);
  if (!cache->defined()) *cache = project(memory);
  return attend(queries, *cache, mask, {}, inspection, AttentionPart::cross);
}

torch::Tensor MultiHeadAttentionImpl::project(const torch::Tensor& memory) {
  return kernels::linear(memory, in_proj_weight_, in_proj_bias_, {d_model_});
}

torch::Tensor MultiHeadAttentionImpl::attend(const torch::Tensor& queries, const torch::Tensor& memory,
                                             const AttentionMask& mask, const RelativePositions& positions,
                                             LayerInspection& inspection, AttentionPart part) {
  const bool scaled = scaled_ != inspection.has_other_scale();
  kernels::AttentionInput input;
  input.queries = queries;
  input.memory = memory;
  input.num_heads = num_heads_;
  input.scale = scaled ? 1 / std::sqrt(static_cast<double>(d_model_ / num_heads_)) : 1;
  input.dropout = is_training() ? dropout_ : 0;
  input.padding = mask.padding;
  input.look_ahead = mask.look_ahead;
  input.bias = positions.bias;
  input.relative_k = relative_k_;
  input.relative_v = relative_v_;
  input.distances = positions.distances;
  kernels::WeightsChange change;
  if (inspection.changes_weights(part)) {
    change = [&](const torch::Tensor& weights) { return inspection.changed(weights, part); };
  }
  const kernels::Attended attended = kernels::attend(input, change);
  inspection.keep_weights(attended.weights, part);
  const torch::Tensor heads = kernels::split_heads(attended.heads, num_heads_);                 // B×H×Q×d
  const torch::Tensor side_by_side = inspection.heads(heads, part).transpose(1, 2).flatten(2);  // B×Q×D
  const torch::Tensor output = kernels::linear(side_by_side, out_proj_->weight, out_proj_->bias);
  inspection.keep_head(part, [&] {
    const auto [q, k, v] = kernels::heads_of(input);
    const bool relative = relative_k_.defined();
    return HeadTensors{
        q,
        k,
        v,
        relative ? kernels::relative_scores(q * input.scale, relative_k_, positions.distances) : positions.bias,
        relative_v_,
        side_by_side,
        output,
        out_proj_->weight,
        out_proj_->bias,
        scaled};
  });
  return output;
}

}  // namespace attnscope
