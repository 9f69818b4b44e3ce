// Every way of telling a Transformer the order of its tokens. Sinusoids and learned vectors are added to the
// embeddings; the others act inside self-attention, in encoder and decoder alike, and leave cross-attention alone:
// there queries and keys stand in different sentences, between which no distance is defined.
#pragma once

#include <torch/torch.h>

#include "plain/config.h"

namespace attnscope {

// length × d_model: sin at even, cos at odd dimensions (§3.5).
torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model);

// H slopes of ALiBi (2108.12409 §3), steepest first; between powers of two every other slope of the next one follows.
torch::Tensor alibi_slopes(std::int64_t num_heads);

// int64: the T5 bucket of each relative position key − query (1910.10683 §2.1): 32 buckets, up to distance 128.
torch::Tensor t5_buckets(const torch::Tensor& relative, bool bidirectional);

// length × d: cos at even, sin at odd dimensions of the angles position · 10000^(−2i/d) by which RoPE (2104.09864
// §3.4.2) rotates a head's pairs of neighbouring dimensions (2i, 2i+1).
torch::Tensor rope_rotations(std::int64_t length, std::int64_t d);

// x: …×L×d, each pair rotated by its rotation. rotations: L×d
torch::Tensor rotate(const torch::Tensor& x, const torch::Tensor& rotations);

// What one pass of self-attention is told about distance. The queries are the last Q of the K keys; all undefined when
// positions are not told here.
struct RelativePositions {
  torch::Tensor bias;       // H×Q×K added to the scores (ALiBi, T5)
  torch::Tensor rotations;  // K×d, by which queries and keys are rotated (RoPE)
  torch::Tensor distances;  // int64 Q×K, 0…2k: clip(key − query, −k, k) + k (Shaw 1803.02155 §3.2)
};

// The scheme of one stack of layers, shared by all of them.
class PositionSchemeImpl : public torch::nn::Module {
 public:
  PositionSchemeImpl(const ModelConfig& config, bool causal);

  // num_keys: up to max_length.
  RelativePositions relative(std::int64_t num_queries, std::int64_t num_keys, torch::Device device);

  // What each head adds to a score (ALiBi, T5), distances×H: a row for every distance key − query from 1 − length to
  // length − 1, or to 0 where the future is masked. Undefined in other schemes.
  torch::Tensor bias_by_distance(std::int64_t length);

 private:
  std::string kind_;
  std::int64_t max_distance_;
  bool causal_;
  // Computed ones are not parameters, so they are not in the run's folder; they follow to the device they are used on.
  torch::Tensor rotations_;                // RoPE: max_length × d
  torch::Tensor slopes_;                   // ALiBi: H×1×1
  torch::Tensor relative_attention_bias_;  // T5: 32×H
};
TORCH_MODULE(PositionScheme);

}  // namespace attnscope
