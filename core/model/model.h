// The interface of all architectures: source ids → memory → features → logits.
//
// Shape letters of all models: B batch, S source length, T target length, D d_model, H heads, V vocabulary; in
// attention only: Q queries, K keys, d = D / H.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "messages/embeddings.h"
#include "model/inspection.h"
#include "model/kernels/libtorch.h"
#include "model/kernels/packing.h"
#include "model/positions.h"

namespace attnscope {

// The encoded source, used by the decoder or a classifier.
struct Memory {
  torch::Tensor states;             // B×S×D; undefined in a language model, which has no source
  torch::Tensor padding;            // bool B×S, true at padding; undefined: there is none
  std::vector<torch::Tensor> last;  // recurrent: the decoder's initial state, as in DecoderCache::state
  kernels::Packing packing = {};    // states are 1×N×D, without padding

  // Repeats the source for `rows` decoders; the memory must have one row.
  Memory repeated(std::int64_t rows) const;
};

// Decoder state between steps, so that each step processes one token instead of the whole prefix. An empty cache is the
// start of a sentence. Valid for one memory.
struct DecoderCache {
  // Keys and values concatenated, B×K×2D, one tensor per layer; undefined before the first use.
  std::vector<torch::Tensor> self;   // Transformer: of the tokens so far
  std::vector<torch::Tensor> cross;  // Transformer: of the memory; recurrent: attention keys of the source, B×S×D
  std::vector<torch::Tensor> state;  // recurrent: B×D tensors
  std::int64_t length = 0;           // tokens so far

  // Continues with these rows (int64 N): the surviving hypotheses of a beam, which may repeat.
  void select(const torch::Tensor& rows);
};

// A tensor that encodes token order, by position or by distance; see messages/snapshot.h.
struct PositionTensor {
  std::string name;
  std::int64_t first = 0;  // of the first row: position 0, or the smallest distance key − query
  torch::Tensor values;    // positions or distances × dimensions or heads
};

class SequenceModel : public torch::nn::Module {
 public:
  // source: int64 B×S; padding: bool B×S, true at padding, or undefined. Not for language models.
  virtual Memory encode(const torch::Tensor& source, const torch::Tensor& padding,
                        Inspection* inspection = nullptr) = 0;

  // target_in: int64 B×T, shifted right (teacher forcing); → features B×T×D. With a cache, target_in continues the
  // cached prefix and is appended to the cache. A masked language model predicts the source's own tokens: it returns
  // features B×S×E, whatever target_in is.
  virtual torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                               Inspection* inspection = nullptr) = 0;

  // Converts a decoder layer's output (Inspection::hidden) to features as if it were the last layer: the logit lens.
  virtual torch::Tensor finished(const torch::Tensor& hidden) { return hidden; }

  // B×S, a discriminator's logits that a token was replaced (2003.10555 §2); undefined for other models.
  virtual torch::Tensor replaced(const Memory& /*memory*/) { return {}; }

  // …×D → …×V. A classifier computes logits of its labels; all other tokens get logits so low that their probability is
  // 0.
  torch::Tensor logits(const torch::Tensor& features);

  // The same before model.logit_cap.
  torch::Tensor uncapped_logits(const torch::Tensor& features);
  // Limited to ± model.logit_cap.
  torch::Tensor capped(const torch::Tensor& logits) const;

  // Sets the scores (…×V) of the token that must never be generated, model.banned_id, to −∞.
  torch::Tensor writable(torch::Tensor scores) const;

  // The mean smoothed cross-entropy over non-padding targets (int64 B×T), from features B×T×D or packed features 1×N×D;
  // see model/kernels/cross_entropy.h. A classifier's targets are labels, and smoothing spreads over the labels.
  torch::Tensor loss(const torch::Tensor& features, const torch::Tensor& target_out, double label_smoothing);

  virtual void set_dropout(double dropout);

  // In training, layers save only their input for the backward pass; see model/recompute.h. Recurrent networks save
  // everything.
  virtual void set_recompute(bool /*recompute*/) {}

  // In training with fused kernels, padding is skipped: memory and features contain only the real tokens, 1×N×D, as the
  // loss accepts them. Only Transformer encoder–decoders support this; others compute everything.
  virtual void set_packs(bool /*packs*/) {}

  // Switches to inference for inspection: no dropout, no gradients.
  void freeze();

  // Throws std::logic_error unless the model is frozen: dropout and gradients would falsify an inspection.
  void check_standing_still() const;

  // The tensors that encode token order, for display; empty if there are none.
  virtual std::vector<PositionTensor> positions() { return {}; }

  // The relative positions in self-attention over a sequence of this length, shared by all layers of a stack.
  virtual RelativePositions relative_positions(AttentionPart /*stack*/, std::int64_t /*length*/) { return {}; }

  // The embedding or output matrix, one vector per token, V×D; tied matrices are the same tensor. A classifier has no
  // such output matrix.
  torch::Tensor embedding_rows(EmbeddingMatrix matrix) const;

  const ModelConfig& config() const { return config_; }
  std::int64_t vocab_size() const { return vocab_size_; }
  torch::Device device() const { return output_weight_.device(); }

 protected:
  SequenceModel(const ModelConfig& config, std::int64_t vocab_size);

  // A derived constructor calls make_embeddings() before it creates its own modules and make_output() after. This
  // order determines which random numbers initialize the parameters.
  void make_embeddings();
  void make_output();

  // ids …×L → …×L×D, × √D (§3.4) with model.scaled_embeddings; plus the positional encoding (L×D, or undefined), with
  // dropout (§5.4).
  torch::Tensor embed(const torch::nn::Embedding& embedding, const torch::Tensor& ids, const torch::Tensor& positions);

  // Dropout probability; 0 unless training.
  double dropout() const { return is_training() ? config_.dropout : 0; }
  double embedding_factor() const;

  ModelConfig config_;
  std::int64_t vocab_size_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};  // the same module if tied
  torch::Tensor output_weight_;  // V×D; the embedding itself if tied (§3.4); in a classifier one row per label
  torch::Tensor output_bias_;    // V, or one entry per label; undefined without model.output_bias

 private:
  // The first token that can be predicted: a classifier's labels are at the end of the vocabulary.
  std::int64_t first_output() const { return config_.is_classifier() ? vocab_size_ - config_.num_classes : 0; }
  // The input of the output matrix.
  torch::Tensor output_input(const torch::Tensor& features) const;
};

// True if the Transformer's embeddings are Xavier-initialized (small), as in torch::nn and tutorials based on it.
// Otherwise, and in recurrent networks, they have variance 1. Measured: with small embeddings the model learns far
// earlier.
bool begins_by_xavier(const ModelConfig& config);

// The state_dict name of the parameter that embedding_rows returns.
std::string embedding_parameter(EmbeddingMatrix matrix, const ModelConfig& config);

using Model = std::shared_ptr<SequenceModel>;

// Creates the architecture that the configuration names. Weights are initialized from torch's random generator: seed it
// first.
Model make_model(const ModelConfig& config, std::int64_t vocab_size);

}  // namespace attnscope
