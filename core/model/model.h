// What every architecture does: source ids → memory → features → logits.
//
// Shape letters of all models: B batch, S source length, T target length, D d_model, H heads, V vocabulary; in
// attention alone: Q queries, K keys, d = D / H.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "kernels/libtorch.h"
#include "kernels/packing.h"
#include "model/inspection.h"
#include "model/positions.h"
#include "plain/config.h"
#include "plain/embeddings.h"

namespace attnscope {

// What the decoder, or a classifier, knows of the source.
struct Memory {
  torch::Tensor states;             // B×S×D; undefined in a language model, which has no source
  torch::Tensor padding;            // bool B×S, true at padding; undefined: there is none
  std::vector<torch::Tensor> last;  // recurrent: the decoder's first state, as in DecoderCache::state
  kernels::Packing packing = {};    // states are 1×N×D, without padding

  // The same source for `rows` decoders; there must be one row.
  Memory repeated(std::int64_t rows) const;
};

// What a decoder keeps between steps, so that each costs one token instead of the whole prefix. An empty one is the
// start of a sentence. Holds for one memory.
struct DecoderCache {
  // Keys and values side by side, B×K×2D, one tensor a layer; undefined before the first use.
  std::vector<torch::Tensor> self;   // Transformer: of the tokens so far
  std::vector<torch::Tensor> cross;  // Transformer: of the memory; recurrent: what attention needs of it, B×S×D
  std::vector<torch::Tensor> state;  // recurrent: B×D tensors
  std::int64_t length = 0;           // tokens so far

  // Goes on with these rows (int64 N): a beam's survivors, some of them twice.
  void select(const torch::Tensor& rows);
};

// Something that tells the order of the tokens, by position or by distance; see plain/snapshot.h.
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

  // target_in: int64 B×T, shifted right (teacher forcing); → features B×T×D. With a cache, target_in goes on where
  // the cache stands, and the cache then holds it too.
  virtual torch::Tensor decode(const torch::Tensor& target_in, const Memory& memory, DecoderCache* cache = nullptr,
                               Inspection* inspection = nullptr) = 0;

  // What a decoder layer left (Inspection::hidden) as features, as if it had been the last: the logit lens.
  virtual torch::Tensor finished(const torch::Tensor& hidden) { return hidden; }

  // …×D → …×V. A classifier's are those of its labels; those of other pieces are so low that their probability is 0.
  torch::Tensor logits(const torch::Tensor& features);

  // The scores (…×V) with what is never written, model.banned_id, at −∞.
  torch::Tensor writable(torch::Tensor scores) const;

  // The mean over targets (int64 B×T) that are not padding of their smoothed cross-entropy, from features B×T×D; see
  // kernels/cross_entropy.h; or from features 1×N×D of those alone. A classifier's targets are labels, and its
  // smoothing is over these.
  torch::Tensor loss(const torch::Tensor& features, const torch::Tensor& target_out, double label_smoothing);

  virtual void set_dropout(double dropout);

  // While it trains, layers keep nothing but their input; see model/recompute.h. Recurrent networks keep all.
  virtual void set_recompute(bool /*recompute*/) {}

  // While it trains with fused kernels, nothing is computed at padding: the memory and the features are then those of
  // the pieces alone, 1×N×D, as the loss takes them. Only encoder–decoders of layers do; others compute all.
  virtual void set_packs(bool /*packs*/) {}

  // From here on it is looked at and not trained: no dropout, and no gradients are kept.
  void freeze();

  // Throws std::logic_error unless it stands still: dropout and gradients would spoil a look.
  void check_standing_still() const;

  // Whatever tells the order of the tokens, to be looked at; none where nothing does.
  virtual std::vector<PositionTensor> positions() { return {}; }

  // What self-attention over so many pieces is told of their distances, the same in all layers of a stack.
  virtual RelativePositions relative_positions(AttentionPart /*stack*/, std::int64_t /*length*/) { return {}; }

  // The matrix with a vector a piece, V×D (a classifier has no output matrix of that kind); of those that are one and
  // the same, that one.
  torch::Tensor embedding_rows(EmbeddingMatrix matrix) const;

  const ModelConfig& config() const { return config_; }
  std::int64_t vocab_size() const { return vocab_size_; }
  torch::Device device() const { return output_weight_.device(); }

 protected:
  SequenceModel(const ModelConfig& config, std::int64_t vocab_size);

  // A derived constructor calls the first before it makes its own modules and the second after: in that order the
  // parameters take their initial values from the random generator.
  void make_embeddings();
  void make_output();

  // ids …×L → …×L×D, × √D (§3.4) with model.scaled_embeddings; plus the positions (L×D, or undefined), with dropout
  // (§5.4).
  torch::Tensor embed(const torch::nn::Embedding& embedding, const torch::Tensor& ids, const torch::Tensor& positions);

  // The probability of dropout: 0 unless training.
  double dropout() const { return is_training() ? config_.dropout : 0; }
  double embedding_factor() const;

  ModelConfig config_;
  std::int64_t vocab_size_;
  torch::nn::Embedding source_embedding_{nullptr}, target_embedding_{nullptr};  // one and the same when tied
  torch::Tensor output_weight_;  // V×D; the embedding itself when tied (§3.4); of a classifier a row a label
  torch::Tensor output_bias_;    // V, or as many as labels; undefined without model.output_bias

 private:
  // The first piece that can be written: a classifier's labels are the last of the vocabulary.
  std::int64_t first_output() const { return config_.is_classifier() ? vocab_size_ - config_.num_classes : 0; }
  // What the output matrix is given.
  torch::Tensor output_input(const torch::Tensor& features) const;
};

// Whether what the Transformer's first layers are given begins small, by Xavier's rule, as in torch::nn and the
// tutorials built on it; otherwise, and in recurrent networks, with variance 1. Measured: small learns far earlier.
bool begins_by_xavier(const ModelConfig& config);

// The parameter that embedding_rows gives, as it is called in a state_dict.
std::string embedding_parameter(EmbeddingMatrix matrix, const ModelConfig& config);

using Model = std::shared_ptr<SequenceModel>;

// The architecture that the configuration names. Initial weights come from torch's random generator: seed it first.
Model make_model(const ModelConfig& config, std::int64_t vocab_size);

}  // namespace attnscope
