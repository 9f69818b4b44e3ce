// From tokens to the tensors of one step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.h"
#include "model/kernels/libtorch.h"
#include "training/dataset.h"

namespace attnscope {

// B pairs, padded to the longest of them.
struct Batch {
  torch::Tensor source;          // int64 B×S
  torch::Tensor source_padding;  // bool B×S, true at padding; undefined if there is none
  torch::Tensor target_in;       // int64 B×T: <s> y1 … yn (teacher forcing)
  torch::Tensor target_out;      // int64 B×T: y1 … yn </s>; in a classifier B×1: the label
  torch::Tensor determined;      // bool B×T, of a drawn corpus's validation: targets that follow from the context
  std::int64_t tokens = 0;       // non-padding positions of source + target
  std::int64_t targets = 0;      // non-padding target positions, over which the loss is averaged
};

// Options for token ids that are copied to the device. Copies from pinned memory do not wait for queued work.
torch::TensorOptions ids_for(torch::Device device);
torch::Tensor sent(const torch::Tensor& ids, torch::Device device);

Batch make_batch(const EncodedPairs& pairs, std::span<const std::int64_t> indices, torch::Device device,
                 const SpecialTokens& special = {});

// The criterion that groups pairs into batches.
enum class BatchOrder {
  chance,
  source,  // similar source length: little padding, and varied batches
  both,    // similar source and target length: the least padding, but such pairs often resemble each other
};

// The size and grouping of batches.
struct BatchRule {
  std::int64_t pairs = 1;
  std::int64_t tokens = 0;  // alternatively, the maximum of rows × longest side, including padding; 0: `pairs` decides
  BatchOrder order = BatchOrder::chance;
};

BatchRule batch_rule(const TrainingConfig& training);

using IndexBatches = std::vector<std::vector<std::int64_t>>;

// The batches of one epoch, as indices into pairs: shuffled, split by the rule, shuffled again. Contains every pair
// once; a pair longer than BatchRule::tokens forms its own batch. A pure function of its arguments.
IndexBatches epoch_batches(const EncodedPairs& pairs, BatchRule rule, std::int64_t seed, std::int64_t epoch);

// The fraction of padding in source and target of these batches, 0…1.
double padding_share(const EncodedPairs& pairs, const IndexBatches& batches);

// The batches of all epochs in sequence, numbered from 0. Batches limited by tokens may vary in number between epochs,
// so a batch is found by counting from the first epoch; this takes a small fraction of the training time up to that
// point.
class BatchSequence {
 public:
  // The pairs must not be empty.
  BatchSequence(EncodedPairs pairs, BatchRule rule, std::int64_t seed);

  // Fast for the same number again and for the next one.
  const std::vector<std::int64_t>& at(std::int64_t number);

 private:
  void enter(std::int64_t epoch, std::int64_t first);

  EncodedPairs pairs_;
  BatchRule rule_;
  std::int64_t seed_;
  std::int64_t epoch_ = 0;
  std::int64_t first_ = 0;  // the number of batches_[0]
  IndexBatches batches_;    // of epoch_
};

// Splits the indices, in order, into `count` parts (or one per index if fewer) of similar training cost.
std::vector<std::span<const std::int64_t>> balanced_shards(const EncodedPairs& pairs,
                                                           std::span<const std::int64_t> indices, std::int64_t count);

// 0 … pairs.size()−1 sorted by length and split into batches: for validation and batch translation.
IndexBatches batches_by_length(const EncodedPairs& pairs, std::int64_t batch_size);

}  // namespace attnscope
