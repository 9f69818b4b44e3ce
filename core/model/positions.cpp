#include "model/positions.h"

#include <cmath>
#include <vector>

namespace attnscope {
namespace {

constexpr std::int64_t t5_num_buckets = 32;
constexpr double t5_max_distance = 128;

// 2^(−8h/n), h = 1…n, for n a power of two.
std::vector<float> geometric_slopes(std::int64_t n) {
  std::vector<float> slopes;
  for (std::int64_t h = 1; h <= n; ++h) {
    slopes.push_back(static_cast<float>(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(n))));
  }
  return slopes;
}

// length × dimensions/2: position · 10000^(−2i/dimensions), the angles of sinusoids and of RoPE. In double: float
// powers of 10000 would cost the last digits at distant positions.
torch::Tensor position_angles(std::int64_t length, std::int64_t dimensions) {
  const torch::Tensor even = torch::arange(0, dimensions, 2, torch::kFloat64);
  const torch::Tensor frequencies = torch::exp(even * (-std::log(10000.0) / static_cast<double>(dimensions)));
  return torch::arange(length, torch::kFloat64).unsqueeze(1) * frequencies;
}

}  // namespace

torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model) {
  const torch::Tensor angles = position_angles(length, d_model);
  return torch::stack({angles.sin(), angles.cos()}, 2).flatten(1).to(torch::kFloat32);
}

torch::Tensor alibi_slopes(std::int64_t num_heads) {
  std::int64_t power = 1;
  while (power * 2 <= num_heads) power *= 2;
  std::vector<float> slopes = geometric_slopes(power);
  const std::vector<float> finer = geometric_slopes(2 * power);
  for (std::size_t i = 0; static_cast<std::int64_t>(slopes.size()) < num_heads; i += 2) slopes.push_back(finer[i]);
  return torch::tensor(slopes);
}

torch::Tensor t5_buckets(const torch::Tensor& relative, bool bidirectional) {
  const std::int64_t n = bidirectional ? t5_num_buckets / 2 : t5_num_buckets;
  const std::int64_t exact = n / 2;  // nearer distances have a bucket each
  const torch::Tensor distance = bidirectional ? relative.abs() : (-relative).clamp_min(0);
  const double logs = std::log(t5_max_distance / static_cast<double>(exact));
  const torch::Tensor far = (distance.clamp_min(exact).to(torch::kFloat64) / static_cast<double>(exact)).log() / logs *
                            static_cast<double>(n - exact);
  // The nudge keeps ln(2^a)/ln(2^b), an exact share, from falling below itself.
  const torch::Tensor bucket =
      torch::where(distance < exact, distance, (far + 1e-9).floor().to(torch::kInt64).add(exact).clamp_max(n - 1));
  return bidirectional ? bucket + relative.gt(0).to(torch::kInt64) * n : bucket;
}

torch::Tensor rope_rotations(std::int64_t length, std::int64_t d) {
  const torch::Tensor angles = position_angles(length, d);
  return torch::stack({angles.cos(), angles.sin()}, 2).flatten(1).to(torch::kFloat32);
}

torch::Tensor rotate(const torch::Tensor& x, const torch::Tensor& rotations) {
  const std::int64_t num_pairs = x.size(-1) / 2;
  const auto turns = rotations.unflatten(-1, {num_pairs, 2}).unbind(-1);  // cos, sin: L×d/2
  const auto pairs = x.unflatten(-1, {num_pairs, 2}).unbind(-1);          // 2 of …×L×d/2
  return torch::stack({pairs[0] * turns[0] - pairs[1] * turns[1], pairs[0] * turns[1] + pairs[1] * turns[0]}, -1)
      .flatten(-2);
}

PositionSchemeImpl::PositionSchemeImpl(const ModelConfig& config, bool causal)
    : kind_(config.positions), max_distance_(config.max_distance), causal_(causal) {
  const std::int64_t num_heads = config.num_heads;
  if (kind_ == "rope") {
    rotations_ = rope_rotations(config.max_length, config.d_model / num_heads);
  } else if (kind_ == "alibi") {
    slopes_ = alibi_slopes(num_heads).view({num_heads, 1, 1});
  } else if (kind_ == "t5") {
    relative_attention_bias_ = register_parameter("relative_attention_bias", torch::zeros({t5_num_buckets, num_heads}));
  }
}

RelativePositions PositionSchemeImpl::relative(std::int64_t num_queries, std::int64_t num_keys, torch::Device device) {
  const torch::Tensor keys = torch::arange(num_keys, torch::dtype(torch::kInt64).device(device));
  const torch::Tensor queries = keys.slice(0, num_keys - num_queries).unsqueeze(1);
  RelativePositions result;
  if (kind_ == "rope") {
    rotations_ = rotations_.to(device);
    result.rotations = rotations_.slice(0, 0, num_keys);
  } else if (kind_ == "shaw") {
    result.distances = (keys - queries).clamp(-max_distance_, max_distance_) + max_distance_;
  } else if (kind_ == "alibi") {
    slopes_ = slopes_.to(device);
    result.bias = -slopes_ * (queries - keys).abs();  // in the decoder the future is masked, so one form does for both
  } else if (kind_ == "t5") {
    result.bias = torch::embedding(relative_attention_bias_, t5_buckets(keys - queries, !causal_)).permute({2, 0, 1});
  }
  return result;
}

torch::Tensor PositionSchemeImpl::bias_by_distance(std::int64_t length) {
  const torch::Device device = relative_attention_bias_.defined() ? relative_attention_bias_.device() : torch::kCPU;
  const torch::Tensor bias = relative(length, length, device).bias;  // H×L×L
  if (!bias.defined()) return {};
  const torch::Tensor past = bias.select(1, length - 1);  // the last query has every key before it
  if (causal_) return past.t();
  return torch::cat({past, bias.select(1, 0).slice(1, 1)}, 1).t();  // the first has every key after it
}

}  // namespace attnscope
