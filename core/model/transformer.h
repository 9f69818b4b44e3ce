// The encoder–decoder of "Attention Is All You Need" (arXiv 1706.03762), figure 1 from top to bottom. Post-norm, ReLU,
// sinusoidal positions. Parameters below `encoder.` and `decoder.` have torch::nn::Transformer's names and shapes.
#pragma once

#include <torch/torch.h>

#include <string>
#include <vector>

#include "model/attention.h"
#include "plain/config.h"

namespace attnscope {

// One B×H×Q×K tensor a layer, filled by whoever is handed one.
using AttentionWeights = std::vector<torch::Tensor>;

// length × d_model: sin at even, cos at odd dimensions (§3.5).
torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model);

// bool length × length, true above the diagonal: the future, which a decoder must not see (§3.2.3).
torch::Tensor look_ahead_mask(std::int64_t length, torch::Device device);

// linear1 → ReLU → linear2 (§3.3).
class EncoderLayerImpl : public torch::nn::Module {
 public:
  explicit EncoderLayerImpl(const ModelConfig& config);
  torch::Tensor forward(torch::Tensor x, const AttentionMask& mask, AttentionWeights* weights);
  void set_dropout(double dropout);

 private:
  double dropout_;
  MultiHeadAttention self_attn_;
  torch::nn::Linear linear1_, linear2_;
  torch::nn::LayerNorm norm1_, norm2_;
};
TORCH_MODULE(EncoderLayer);

class DecoderLayerImpl : public torch::nn::Module {
 public:
  explicit DecoderLayerImpl(const ModelConfig& config);
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& memory, const AttentionMask& self_mask,
                        const AttentionMask& cross_mask, AttentionWeights* self_weights,
                        AttentionWeights* cross_weights);
  void set_dropout(double dropout);

 private:
  double dropout_;
  MultiHeadAttention self_attn_, multihead_attn_;
  torch::nn::Linear linear1_, linear2_;
  torch::nn::LayerNorm norm1_, norm2_, norm3_;
};
TORCH_MODULE(DecoderLayer);

class EncoderImpl : public torch::nn::Module {
 public:
  explicit EncoderImpl(const ModelConfig& config);
  // x: B×S×D, embedded → memory: B×S×D
  torch::Tensor forward(torch::Tensor x, const AttentionMask& mask, AttentionWeights* weights);
  void set_dropout(double dropout);

 private:
  std::vector<EncoderLayer> layers_;
  torch::nn::LayerNorm norm_;
};
TORCH_MODULE(Encoder);

class DecoderImpl : public torch::nn::Module {
 public:
  explicit DecoderImpl(const ModelConfig& config);
  // x: B×T×D, embedded; memory: B×S×D → B×T×D
  torch::Tensor forward(torch::Tensor x, const torch::Tensor& memory, const AttentionMask& self_mask,
                        const AttentionMask& cross_mask, AttentionWeights* self_weights,
                        AttentionWeights* cross_weights);
  void set_dropout(double dropout);

 private:
  std::vector<DecoderLayer> layers_;
  torch::nn::LayerNorm norm_;
};
TORCH_MODULE(Decoder);

class TransformerImpl : public torch::nn::Module {
 public:
  // Initial weights come from torch's random generator: seed it first.
  TransformerImpl(const ModelConfig& config, std::int64_t vocab_size);

  // source: int64 B×S; source_padding: bool B×S, true at padding, or undefined → memory: B×S×D
  torch::Tensor encode(const torch::Tensor& source, const torch::Tensor& source_padding,
                       AttentionWeights* weights = nullptr);

  // target_in: int64 B×T, shifted right; → B×T×D
  torch::Tensor decode(const torch::Tensor& target_in, const torch::Tensor& memory, const torch::Tensor& source_padding,
                       const torch::Tensor& target_padding, AttentionWeights* self_weights = nullptr,
                       AttentionWeights* cross_weights = nullptr);

  // B×T×D (or N×D) → …×V
  torch::Tensor logits(const torch::Tensor& decoded);

  void set_dropout(double dropout);
  const ModelConfig& config() const { return config_; }
  const torch::Tensor& positions() const { return positions_; }  // max_length × D
  std::int64_t vocab_size() const { return vocab_size_; }

 private:
  torch::Tensor embed(const torch::nn::Embedding& embedding, const torch::Tensor& ids);  // B×L → B×L×D

  ModelConfig config_;
  std::int64_t vocab_size_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};  // one and the same when tied
  Encoder encoder_{nullptr};
  Decoder decoder_{nullptr};
  torch::Tensor output_weight_;  // V×D; the embedding itself when tied (§3.4)
  torch::Tensor positions_;      // computed, so not a parameter and not in the run's folder
};
TORCH_MODULE(Transformer);

}  // namespace attnscope
