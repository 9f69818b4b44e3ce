// What the schemes of plain/position_schemes.h compute: one function a scheme, which makes its tensors where they
// belong and gives back what tells the order with them.
#pragma once

#include <functional>
#include <string>

#include "kernels/libtorch.h"
#include "plain/config.h"

namespace attnscope {

// length × d_model: sin at even, cos at odd dimensions (§3.5).
torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model);

// H slopes of ALiBi (2108.12409 §3), steepest first; between powers of two every other slope of the next one follows.
torch::Tensor alibi_slopes(std::int64_t num_heads);

// int64: the T5 bucket of each relative position key − query (1910.10683 §2.1): 32 buckets, up to distance 128.
torch::Tensor t5_buckets(const torch::Tensor& relative, bool bidirectional);

// The same numbers, all sines first and then all cosines: as Marian and tensor2tensor have them.
torch::Tensor sinusoidal_halves(std::int64_t length, std::int64_t d_model);

// length × d: cos at even, sin at odd dimensions of the angles position · theta^(−2i/d) by which RoPE (2104.09864
// §3.4.2) rotates a head's pairs of neighbouring dimensions (2i, 2i+1).
torch::Tensor rope_rotations(std::int64_t length, std::int64_t d, double theta = 10000);

// The vectors of positions first … last − 1, L×D, as they are added to the embeddings. Throws std::out_of_range beyond
// max_length, as RelativePositions does where it is made of a table.
using AddedPositions = std::function<torch::Tensor(std::int64_t first, std::int64_t last)>;

// Those of the configuration's scheme, whose tensor is registered in `owner` under `name`; empty if it adds none.
AddedPositions make_added_positions(torch::nn::Module& owner, const std::string& name, const ModelConfig& config);

// What one pass of self-attention is told about distance. The queries are the last Q of the K keys; all undefined when
// positions are not told here.
struct RelativePositions {
  torch::Tensor bias = {};       // H×Q×K added to the scores
  torch::Tensor rotations = {};  // K×d, by which queries and keys are rotated
  torch::Tensor distances = {};  // int64 Q×K, 0…2k: clip(key − query, −k, k) + k (Shaw 1803.02155 §3.2)
};

// What the layers of one stack are told, the same to all of them.
class StackPositionsImpl : public torch::nn::Module {
 public:
  // What queries (int64 Q×1) are told of keys (int64 K), both given by their positions on the model's device.
  using Tell = std::function<RelativePositions(const torch::Tensor& queries, const torch::Tensor& keys)>;

  StackPositionsImpl(const ModelConfig& config, bool causal);

  // num_keys: up to max_length.
  RelativePositions relative(std::int64_t num_queries, std::int64_t num_keys, torch::Device device) const;

  // What each head adds to a score, distances×H: a row for every distance key − query from 1 − length to length − 1, or
  // to 0 where the future is masked. Of schemes with biases.
  torch::Tensor bias_by_distance(std::int64_t length, torch::Device device) const;

 private:
  bool causal_;
  Tell tell_;  // empty: nothing
};
TORCH_MODULE(StackPositions);

}  // namespace attnscope
