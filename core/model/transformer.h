// "Attention Is All You Need" (arXiv 1706.03762), figure 1: encoder and decoder, only the decoder as a language model,
// or only the encoder with pooling as a classifier. Parameters below `encoder.` and `decoder.` have the names and
// shapes of torch::nn::Transformer; the layers of a language model have those of torch::nn::TransformerEncoderLayer.
#pragma once

#include <array>
#include <vector>

#include "config/position_schemes.h"
#include "model/attention.h"
#include "model/feed_forward.h"
#include "model/kernels/libtorch.h"
#include "model/model.h"
#include "model/norm.h"
#include "model/pooling.h"
#include "model/positions.h"

namespace attnscope {

// bool Q×K, true for future keys, which a decoder must not attend to (§3.2.3). The queries are the last Q of the K
// keys.
torch::Tensor look_ahead_mask(std::int64_t num_queries, std::int64_t num_keys, torch::Device device);

// The inputs of a layer other than x.
struct LayerContext {
  AttentionPart part = AttentionPart::encoder;  // of self-attention
  std::int64_t num_keys = 0;                    // of self-attention, including cached keys
  AttentionMask self_mask;
  RelativePositions positions;
  torch::Tensor memory;  // B×S×D; undefined: no cross-attention
  AttentionMask memory_mask;
};

// Self-attention, cross-attention if there is a memory, and feed-forward; each with its residual connection and norm.
class LayerImpl : public torch::nn::Module {
 public:
  LayerImpl(const ModelConfig& config, bool cross_attention);

  // x: B×L×D → B×L×D. Caches that are not null are extended.
  torch::Tensor forward(torch::Tensor x, const LayerContext& context, torch::Tensor* self_cache,
                        torch::Tensor* cross_cache, LayerInspection& inspection);
  void set_dropout(double dropout);
  const torch::Tensor& relative_k() const { return self_attn_->relative_k(); }

 private:
  // Adds the sublayer's output for `norm`(from) to x.
  torch::Tensor feed_forward(const torch::Tensor& x, const torch::Tensor& from, Norm& norm,
                             LayerInspection& inspection);
  // Replaces a layer that is switched off.
  torch::Tensor pass_on(const torch::Tensor& x, const LayerContext& context, LayerInspection& inspection) const;

  // Post-norm: norm(x + dropout(sublayer(x))); pre-norm: x + dropout(sublayer(norm(x))).
  torch::Tensor before(const torch::Tensor& x, Norm& norm) { return pre_norm_ ? norm(x) : x; }
  // `added` is the sublayer's output for `input`.
  torch::Tensor after(const torch::Tensor& x, const torch::Tensor& input, torch::Tensor added, Norm& norm,
                      Sublayer sublayer, LayerInspection& inspection, const torch::Tensor& active = {});

  std::int64_t num_heads_;
  bool pre_norm_, parallel_;
  const FeedForwardForm& form_;
  double dropout() const { return is_training() ? dropout_ : 0; }
  double dropout_;
  MultiHeadAttention self_attn_, multihead_attn_{nullptr};
  // W₁, W₂, and V if the activation is gated (2002.05202).
  torch::nn::Linear linear1_{nullptr}, linear2_{nullptr}, linear_v_{nullptr};
  Norm norm1_{nullptr}, norm2_{nullptr}, norm3_{nullptr};  // in the order of the sublayers
  std::array<Norm, 3> output_norms_ = {nullptr, nullptr, nullptr};  // by Sublayer; none without model.output_norms
};
TORCH_MODULE(Layer);

// The layers and the final norm, if there is one.
class StackImpl : public torch::nn::Module {
 public:
  StackImpl(const ModelConfig& config, std::int64_t num_layers, bool causal, bool cross_attention);

  // x: B×L×D, embedded → B×L×D; with a packing, both are 1×N×D.
  torch::Tensor forward(torch::Tensor x, const Memory& memory, const torch::Tensor& padding, DecoderCache* cache,
                        Inspection* inspection, const kernels::Packing& packing = {});

  // Applies the final norm to a layer's output x, as if it were the last layer → B×L×D.
  torch::Tensor finished(const torch::Tensor& x) { return norm_ ? norm_(x) : x; }
  void set_dropout(double dropout);
  void set_recompute(bool recompute) { recompute_ = recompute; }

  // The positional tensors inside the layers, named after the stack; may be empty.
  std::vector<PositionTensor> positions(const std::string& name);

  RelativePositions relative_positions(std::int64_t length);

 private:
  // The same inputs for a layer with a window.
  LayerContext local(LayerContext context, std::int64_t num_queries, torch::Device device) const;
  // The relative vectors of every layer, if the scheme has them.
  std::vector<PositionTensor> relative_vectors(const std::string& name) const;
  // Runs all layers with gradient checkpointing.
  torch::Tensor run_recomputed(torch::Tensor x, const LayerContext& context, const LayerContext& local);

  bool causal_;
  bool recompute_ = false;
  ModelConfig config_;
  std::int64_t max_length_;
  PositionForm form_;
  StackPositions position_scheme_;
  StackPositions local_position_scheme_{nullptr};  // of the layers with a window, if they have another base of RoPE
  std::vector<Layer> layers_;  // several may be the same one, with model.layer_groups
  Norm norm_{nullptr};         // none without model.final_norm
};
TORCH_MODULE(Stack);

// Predicts the token at each position from the encoder's state there (1810.04805 §3.1): a linear map, the layers'
// activation and a norm before the output matrix. A discriminator (2003.10555 §2) has one output instead, positive if
// the token was replaced.
class MaskedHeadImpl : public torch::nn::Module {
 public:
  explicit MaskedHeadImpl(const ModelConfig& config);

  torch::Tensor forward(const torch::Tensor& states);   // B×S×D → B×S×E
  torch::Tensor replaced(const torch::Tensor& states);  // B×S×D → B×S; only of a discriminator

 private:
  ActivationFunction activation_;
  torch::nn::Linear dense_{nullptr}, prediction_{nullptr};
  Norm norm_{nullptr};
};
TORCH_MODULE(MaskedHead);

class Transformer final : public SequenceModel {
 public:
  Transformer(const ModelConfig& config, std::int64_t vocab_size);

  Memory encode(const torch::Tensor& source, const torch::Tensor& padding, Inspection* inspection = nullptr) override;
  torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                       Inspection* inspection = nullptr) override;
  torch::Tensor finished(const torch::Tensor& hidden) override;
  torch::Tensor replaced(const Memory& memory) override;
  void set_dropout(double dropout) override;
  void set_recompute(bool recompute) override;
  void set_packs(bool packs) override { packs_ = packs; }
  std::vector<PositionTensor> positions() override;
  RelativePositions relative_positions(AttentionPart stack, std::int64_t length) override;

 private:
  // ids B×L, the first of them at position `first` → B×L×D, or packed 1×N×D; the flag adds the positions
  torch::Tensor embed_from(const torch::nn::Embedding& embedding, const AddedPositions& positions,
                           const torch::Tensor& ids, std::int64_t first, bool with_positions,
                           const kernels::Packing& packing);
  // What BERT does to the sum of token and position embeddings: adds token types, normalizes and widens.
  torch::Tensor completed(torch::Tensor embedded, const torch::Tensor& ids, Norm& norm);
  // True if this pass skips padding.
  bool packs(const Inspection* inspection) const;

  bool packs_ = false;
  AddedPositions source_positions_, target_positions_;  // empty if the scheme adds none
  Stack encoder_{nullptr};                              // none in a language model
  Stack decoder_{nullptr};                              // none in a classifier
  Pooling pooling_{nullptr};                            // of a classifier
  torch::Tensor token_types_;                           // types × E; undefined without model.token_types
  Norm embedding_norm_{nullptr}, target_embedding_norm_{nullptr};  // the same one in a language model
  torch::nn::Linear widening_{nullptr};  // from embeddings of another width
  MaskedHead head_{nullptr};             // of a masked language model
};

}  // namespace attnscope
