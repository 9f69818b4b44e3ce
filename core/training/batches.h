// From pieces to the tensors of one update.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/libtorch.h"
#include "plain/config.h"
#include "training/dataset.h"

namespace attnscope {

// B pairs, padded to the longest of them.
struct Batch {
  torch::Tensor source;          // int64 B×S
  torch::Tensor source_padding;  // bool B×S, true at padding; undefined if there is none
  torch::Tensor target_in;       // int64 B×T: <s> y1 … yn (teacher forcing)
  torch::Tensor target_out;      // int64 B×T: y1 … yn </s>; of a classifier B×1: the label
  std::int64_t tokens = 0;       // source + target positions that are not padding
  std::int64_t targets = 0;      // target positions that are not padding: what the loss is the mean of
};

// Of pieces that are on their way to the device. A copy from memory that stays where it is waits for nothing that the
// device has still to do.
torch::TensorOptions ids_for(torch::Device device);
torch::Tensor sent(const torch::Tensor& ids, torch::Device device);

Batch make_batch(std::span<const EncodedPair> pairs, std::span<const std::int64_t> indices, torch::Device device,
                 const SpecialTokens& special = {});

// Which pairs share a batch.
enum class BatchOrder {
  chance,
  source,  // of about the same source length: little padding, and batches that differ in what is said
  both,    // of the same source and target length: the least padding, but such pairs are often alike
};

// How many pairs make a batch, and which.
struct BatchRule {
  std::int64_t pairs = 1;
  std::int64_t tokens = 0;  // instead: as many as rows × longest side, padding included, allow; 0: `pairs` decides
  BatchOrder order = BatchOrder::chance;
};

BatchRule batch_rule(const TrainingConfig& training);

using IndexBatches = std::vector<std::vector<std::int64_t>>;

// The batches of one epoch, as indices into pairs: shuffled, cut into batches by the rule, shuffled again. Every pair
// is in one of them; one that is longer than BatchRule::pieces goes alone. A pure function of its arguments.
IndexBatches epoch_batches(std::span<const EncodedPair> pairs, BatchRule rule, std::int64_t seed, std::int64_t epoch);

// The share of padding in source and target of these batches, 0…1.
double padding_share(std::span<const EncodedPair> pairs, const IndexBatches& batches);

// Epoch after epoch, its batches in a row, numbered from 0. Batches measured in pieces may be more in one epoch than in
// another, so a place is found by counting from the first epoch on; that takes a small part of the time it took to
// train that far.
class BatchSequence {
 public:
  // The pairs must outlive this; there must be one.
  BatchSequence(std::span<const EncodedPair> pairs, BatchRule rule, std::int64_t seed);

  // Fast for the same number again and for the next.
  const std::vector<std::int64_t>& at(std::int64_t number);

 private:
  void enter(std::int64_t epoch, std::int64_t first);

  std::span<const EncodedPair> pairs_;
  BatchRule rule_;
  std::int64_t seed_;
  std::int64_t epoch_ = 0;
  std::int64_t first_ = 0;  // the number of batches_[0]
  IndexBatches batches_;    // of epoch_
};

// The indices in their order, cut into `count` parts, or as many as there are indices, that take about as long to learn
// from.
std::vector<std::span<const std::int64_t>> balanced_shards(std::span<const EncodedPair> pairs,
                                                           std::span<const std::int64_t> indices, std::int64_t count);

// 0 … pairs.size()−1 in order of length, cut into batches: for validation and translation of many.
IndexBatches batches_by_length(std::span<const EncodedPair> pairs, std::int64_t batch_size);

}  // namespace attnscope
