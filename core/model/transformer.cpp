#include "model/transformer.h"

#include <cmath>

namespace attnscope {
namespace {

constexpr std::int64_t padding_id = 0;

torch::nn::LayerNorm layer_norm(std::int64_t d_model) {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({d_model}));
}

torch::nn::Linear xavier_linear(std::int64_t in, std::int64_t out) {
  torch::nn::Linear linear(in, out);
  torch::nn::init::xavier_uniform_(linear->weight);
  torch::nn::init::zeros_(linear->bias);
  return linear;
}

// max(0, xW1 + b1)W2 + b2 (§3.3), with dropout where torch::nn has it.
torch::Tensor feed_forward(const torch::Tensor& x, torch::nn::Linear& linear1, torch::nn::Linear& linear2,
                           double dropout, bool training) {
  return linear2(torch::dropout(torch::relu(linear1(x)), dropout, training));
}

void keep(AttentionWeights* weights, const AttentionOutput& attention) {
  if (weights) weights->push_back(attention.weights.detach());
}

}  // namespace

torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model) {
  // In double: float powers of 10000 would cost the last digits at distant positions.
  const torch::Tensor position = torch::arange(length, torch::kFloat64).unsqueeze(1);  // L×1
  const torch::Tensor even = torch::arange(0, d_model, 2, torch::kFloat64);            // D/2
  const torch::Tensor angle = position * torch::exp(even * (-std::log(10000.0) / static_cast<double>(d_model)));
  return torch::stack({angle.sin(), angle.cos()}, 2).reshape({length, d_model}).to(torch::kFloat32);
}

torch::Tensor look_ahead_mask(std::int64_t length, torch::Device device) {
  return torch::ones({length, length}, torch::dtype(torch::kBool).device(device)).triu(1);
}

// ---- encoder

EncoderLayerImpl::EncoderLayerImpl(const ModelConfig& config)
    : dropout_(config.dropout),
      self_attn_(register_module("self_attn", MultiHeadAttention(config.d_model, config.num_heads, config.dropout))),
      linear1_(register_module("linear1", xavier_linear(config.d_model, config.d_ff))),
      linear2_(register_module("linear2", xavier_linear(config.d_ff, config.d_model))),
      norm1_(register_module("norm1", layer_norm(config.d_model))),
      norm2_(register_module("norm2", layer_norm(config.d_model))) {}

torch::Tensor EncoderLayerImpl::forward(torch::Tensor x, const AttentionMask& mask, AttentionWeights* weights) {
  const AttentionOutput attention = self_attn_(x, x, mask);
  keep(weights, attention);
  x = norm1_(x + torch::dropout(attention.output, dropout_, is_training()));
  return norm2_(x +
                torch::dropout(feed_forward(x, linear1_, linear2_, dropout_, is_training()), dropout_, is_training()));
}

void EncoderLayerImpl::set_dropout(double dropout) {
  dropout_ = dropout;
  self_attn_->set_dropout(dropout);
}

EncoderImpl::EncoderImpl(const ModelConfig& config) : norm_(layer_norm(config.d_model)) {
  auto layers = register_module("layers", torch::nn::ModuleList());
  for (std::int64_t i = 0; i < config.num_encoder_layers; ++i) {
    layers->push_back(layers_.emplace_back(config));
  }
  register_module("norm", norm_);
}

torch::Tensor EncoderImpl::forward(torch::Tensor x, const AttentionMask& mask, AttentionWeights* weights) {
  for (EncoderLayer& layer : layers_) x = layer(x, mask, weights);
  return norm_(x);
}

void EncoderImpl::set_dropout(double dropout) {
  for (EncoderLayer& layer : layers_) layer->set_dropout(dropout);
}

// ---- decoder

DecoderLayerImpl::DecoderLayerImpl(const ModelConfig& config)
    : dropout_(config.dropout),
      self_attn_(register_module("self_attn", MultiHeadAttention(config.d_model, config.num_heads, config.dropout))),
      multihead_attn_(
          register_module("multihead_attn", MultiHeadAttention(config.d_model, config.num_heads, config.dropout))),
      linear1_(register_module("linear1", xavier_linear(config.d_model, config.d_ff))),
      linear2_(register_module("linear2", xavier_linear(config.d_ff, config.d_model))),
      norm1_(register_module("norm1", layer_norm(config.d_model))),
      norm2_(register_module("norm2", layer_norm(config.d_model))),
      norm3_(register_module("norm3", layer_norm(config.d_model))) {}

torch::Tensor DecoderLayerImpl::forward(torch::Tensor x, const torch::Tensor& memory, const AttentionMask& self_mask,
                                        const AttentionMask& cross_mask, AttentionWeights* self_weights,
                                        AttentionWeights* cross_weights) {
  const AttentionOutput self = self_attn_(x, x, self_mask);
  keep(self_weights, self);
  x = norm1_(x + torch::dropout(self.output, dropout_, is_training()));

  const AttentionOutput cross = multihead_attn_(x, memory, cross_mask);
  keep(cross_weights, cross);
  x = norm2_(x + torch::dropout(cross.output, dropout_, is_training()));

  return norm3_(x +
                torch::dropout(feed_forward(x, linear1_, linear2_, dropout_, is_training()), dropout_, is_training()));
}

void DecoderLayerImpl::set_dropout(double dropout) {
  dropout_ = dropout;
  self_attn_->set_dropout(dropout);
  multihead_attn_->set_dropout(dropout);
}

DecoderImpl::DecoderImpl(const ModelConfig& config) : norm_(layer_norm(config.d_model)) {
  auto layers = register_module("layers", torch::nn::ModuleList());
  for (std::int64_t i = 0; i < config.num_decoder_layers; ++i) {
    layers->push_back(layers_.emplace_back(config));
  }
  register_module("norm", norm_);
}

torch::Tensor DecoderImpl::forward(torch::Tensor x, const torch::Tensor& memory, const AttentionMask& self_mask,
                                   const AttentionMask& cross_mask, AttentionWeights* self_weights,
                                   AttentionWeights* cross_weights) {
  for (DecoderLayer& layer : layers_) x = layer(x, memory, self_mask, cross_mask, self_weights, cross_weights);
  return norm_(x);
}

void DecoderImpl::set_dropout(double dropout) {
  for (DecoderLayer& layer : layers_) layer->set_dropout(dropout);
}

// ---- the whole

TransformerImpl::TransformerImpl(const ModelConfig& config, std::int64_t vocab_size)
    : config_(config), vocab_size_(vocab_size), positions_(sinusoidal_positions(config.max_length, config.d_model)) {
  const auto embedding = [&] {
    torch::nn::Embedding made(torch::nn::EmbeddingOptions(vocab_size, config.d_model).padding_idx(padding_id));
    torch::NoGradGuard no_grad;
    // × √D in embed() brings these to unit variance; as an output matrix they are small enough (§3.4).
    torch::nn::init::normal_(made->weight, 0, 1.0 / std::sqrt(static_cast<double>(config.d_model)));
    made->weight[padding_id].zero_();
    return made;
  };
  source_embedding_ = register_module(config.tied_embeddings ? "embedding" : "source_embedding", embedding());
  target_embedding_ = config.tied_embeddings ? source_embedding_ : register_module("target_embedding", embedding());
  encoder_ = register_module("encoder", Encoder(config));
  decoder_ = register_module("decoder", Decoder(config));
  if (config.tied_embeddings) {
    output_weight_ = source_embedding_->weight;
  } else {
    output_weight_ = register_parameter("output_weight", torch::empty({vocab_size, config.d_model}));
    torch::nn::init::xavier_uniform_(output_weight_);
  }
}

torch::Tensor TransformerImpl::embed(const torch::nn::Embedding& embedding, const torch::Tensor& ids) {
  if (!positions_.device().is_cpu() || !ids.device().is_cpu()) positions_ = positions_.to(ids.device());
  const double scale = std::sqrt(static_cast<double>(config_.d_model));
  const torch::Tensor embedded = torch::embedding(embedding->weight, ids, padding_id) * scale;  // B×L×D
  return torch::dropout(embedded + positions_.slice(0, 0, ids.size(1)), config_.dropout, is_training());
}

torch::Tensor TransformerImpl::encode(const torch::Tensor& source, const torch::Tensor& source_padding,
                                      AttentionWeights* weights) {
  return encoder_(embed(source_embedding_, source), AttentionMask{source_padding, {}}, weights);
}

torch::Tensor TransformerImpl::decode(const torch::Tensor& target_in, const torch::Tensor& memory,
                                      const torch::Tensor& source_padding, const torch::Tensor& target_padding,
                                      AttentionWeights* self_weights, AttentionWeights* cross_weights) {
  const AttentionMask self_mask{target_padding, look_ahead_mask(target_in.size(1), target_in.device())};
  return decoder_(embed(target_embedding_, target_in), memory, self_mask, AttentionMask{source_padding, {}},
                  self_weights, cross_weights);
}

torch::Tensor TransformerImpl::logits(const torch::Tensor& decoded) {
  return torch::linear(decoded, output_weight_);
}

void TransformerImpl::set_dropout(double dropout) {
  config_.dropout = dropout;
  encoder_->set_dropout(dropout);
  decoder_->set_dropout(dropout);
}

}  // namespace attnscope
