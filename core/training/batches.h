// From pieces to the tensors of one update.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <span>
#include <vector>

namespace attnscope {

struct EncodedPair {
  std::vector<int> source;  // pieces and </s>
  std::vector<int> target;  // pieces, without <s> and </s>
};

// B pairs, padded with pad_id to the longest of them.
struct Batch {
  torch::Tensor source;          // int64 B×S
  torch::Tensor source_padding;  // bool B×S, true at padding; undefined if there is none
  torch::Tensor target_in;       // int64 B×T: <s> y1 … yn (teacher forcing)
  torch::Tensor target_out;      // int64 B×T: y1 … yn </s>
  std::int64_t tokens = 0;       // source + target positions that are not padding
};

Batch make_batch(std::span<const EncodedPair> pairs, std::span<const std::int64_t> indices, torch::Device device);

// The batches of one epoch, as indices into pairs: shuffled, cut into batches of pairs of like length, shuffled again.
// A pure function of its arguments: a resumed run finds its place by asking again.
std::vector<std::vector<std::int64_t>> epoch_batches(std::span<const EncodedPair> pairs, std::int64_t batch_size,
                                                     std::int64_t seed, std::int64_t epoch);

// 0 … pairs.size()−1 in order of length, cut into batches: for validation and translation of many.
std::vector<std::vector<std::int64_t>> batches_by_length(std::span<const EncodedPair> pairs, std::int64_t batch_size);

}  // namespace attnscope
