// Implements the schemes of config/position_schemes.h: one function per scheme, which registers its tensors and returns
// the positional encoding that uses them.
#pragma once

#include <functional>
#include <string>

#include "config/rope_scaling.h"
#include "config/config.h"
#include "model/kernels/libtorch.h"

namespace attnscope {

// length × d_model: sin in even, cos in odd dimensions (§3.5).
torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model);

// H slopes of ALiBi (2108.12409 §3), steepest first; for H between powers of two, every other slope of the next power
// follows.
torch::Tensor alibi_slopes(std::int64_t num_heads);

// int64: the T5 bucket of each relative position key − query (1910.10683 §2.1): 32 buckets, up to distance 128.
torch::Tensor t5_buckets(const torch::Tensor& relative, bool bidirectional);

// The same values with all sines first and then all cosines, as in Marian and tensor2tensor.
torch::Tensor sinusoidal_halves(std::int64_t length, std::int64_t d_model);

// The same from position 2 on, with the frequencies 10000^(−i/(D/2 − 1)), as in fairseq and M2M-100.
torch::Tensor fairseq_sinusoids(std::int64_t length, std::int64_t d_model);

// length × d: cos in even, sin in odd dimensions of the angles position · frequency by which RoPE (2104.09864 §3.2.2)
// rotates a head's pairs of neighboring dimensions (2i, 2i+1).
torch::Tensor rope_rotations(std::int64_t length, const RotaryAngles& angles);

// The vectors of positions first … last − 1, L×D, as added to the embeddings. Throws std::out_of_range beyond
// max_length, as does RelativePositions if it is based on a table.
using AddedPositions = std::function<torch::Tensor(std::int64_t first, std::int64_t last)>;

// Creates the configured scheme and registers its tensor in `owner` under `name`; empty if the scheme adds nothing.
AddedPositions make_added_positions(torch::nn::Module& owner, const std::string& name, const ModelConfig& config);

// Relative positions for one pass of self-attention. The queries are the last Q of the K keys; all undefined if the
// scheme does not act in attention.
struct RelativePositions {
  torch::Tensor bias = {};       // H×Q×K added to the scores
  torch::Tensor rotations = {};  // K×d, by which queries and keys are rotated
  torch::Tensor distances = {};  // int64 Q×K, 0…2k: clip(key − query, −k, k) + k (Shaw 1803.02155 §3.2)
};

// The relative positions of one stack, shared by all its layers.
class StackPositionsImpl : public torch::nn::Module {
 public:
  // Computes relative positions from query positions (int64 Q×1) and key positions (int64 K), both on the model's
  // device.
  using Tell = std::function<RelativePositions(const torch::Tensor& queries, const torch::Tensor& keys)>;

  StackPositionsImpl(const ModelConfig& config, bool causal);

  // num_keys: at most max_length.
  RelativePositions relative(std::int64_t num_queries, std::int64_t num_keys, torch::Device device) const;

  // Each head's bias by distance, distances×H: one row for every distance key − query from 1 − length to length − 1, or
  // to 0 if the future is masked. Only for schemes with biases.
  torch::Tensor bias_by_distance(std::int64_t length, torch::Device device) const;

 private:
  bool causal_;
  Tell tell_;  // empty: no relative positions
};
TORCH_MODULE(StackPositions);

}  // namespace attnscope
