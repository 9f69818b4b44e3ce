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

}  // namespace

torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model) {
  // In double: float powers of 10000 would cost the last digits at distant positions.
  const torch::Tensor position = torch::arange(length, torch::kFloat64).unsqueeze(1);  // L×1
  const torch::Tensor even = torch::arange(0, d_model, 2, torch::kFloat64);            // D/2
  const torch::Tensor angle = position * torch::exp(even * (-std::log(10000.0) / static_cast<double>(d_model)));
  return torch::stack({angle.sin(), angle.cos()}, 2).reshape({length, d_model}).to(torch::kFloat32);
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

torch::Tensor rotate(const torch::Tensor& x, const torch::Tensor& positions) {
  const std::int64_t d = x.size(-1);
  const torch::Tensor even = torch::arange(0, d, 2, positions.options().dtype(torch::kFloat64));
  const torch::Tensor angle = positions.to(torch::kFloat64).unsqueeze(1) *
                              torch::exp(even * (-std::log(10000.0) / static_cast<double>(d)));  // L×d/2
  const torch::Tensor cos = angle.cos().to(x.scalar_type());
  const torch::Tensor sin = angle.sin().to(x.scalar_type());
  const auto pairs = x.unflatten(-1, {d / 2, 2}).unbind(-1);  // 2 of …×L×d/2
  return torch::stack({pairs[0] * cos - pairs[1] * sin, pairs[0] * sin + pairs[1] * cos}, -1).flatten(-2);
}

torch::Tensor rope_rotations(std::int64_t length, std::int64_t d) {
  const torch::Tensor unit = torch::tensor({1.0F, 0.0F}).repeat({length, d / 2});  // in every pair, the first axis
  return rotate(unit, torch::arange(length, torch::kInt64));
}

PositionSchemeImpl::PositionSchemeImpl(const ModelConfig& config, bool causal)
    : kind_(config.positions), num_heads_(config.num_heads), max_distance_(config.max_distance), causal_(causal) {
  if (kind_ == "t5") {
    relative_attention_bias_ =
        register_parameter("relative_attention_bias", torch::zeros({t5_num_buckets, num_heads_}));
  }
}

RelativePositions PositionSchemeImpl::relative(std::int64_t num_queries, std::int64_t num_keys, torch::Device device) {
  const torch::Tensor keys = torch::arange(num_keys, torch::dtype(torch::kInt64).device(device));
  const torch::Tensor queries = keys.slice(0, num_keys - num_queries).unsqueeze(1);
  RelativePositions result;
  if (kind_ == "rope") {
    result.rotations = keys;
  } else if (kind_ == "shaw") {
    result.distances = (keys - queries).clamp(-max_distance_, max_distance_) + max_distance_;
  } else if (kind_ == "alibi") {
    // In the decoder the future is masked anyway, so that one form does for both.
    const torch::Tensor slopes = alibi_slopes(num_heads_).to(device).view({-1, 1, 1});
    result.bias = -slopes * (queries - keys).abs();
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
