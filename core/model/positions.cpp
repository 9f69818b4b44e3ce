#include "model/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "model/initial_values.h"
#include "model/model.h"

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

// length × dimensions/2: position · 10000^(−2i/dimensions), the angles of sinusoids. In double, because float
// powers would lose the last digits at distant positions.
torch::Tensor position_angles(std::int64_t length, std::int64_t dimensions) {
  const torch::Tensor even = torch::arange(0, dimensions, 2, torch::kFloat64);
  const torch::Tensor frequencies = torch::exp(even * (-std::log(10000.0) / static_cast<double>(dimensions)));
  return torch::arange(length, torch::kFloat64).unsqueeze(1) * frequencies;
}

torch::Tensor in_halves(const torch::Tensor& angles) {
  return torch::cat({angles.sin(), angles.cos()}, 1).to(torch::kFloat32);
}

}  // namespace

torch::Tensor sinusoidal_positions(std::int64_t length, std::int64_t d_model) {
  const torch::Tensor angles = position_angles(length, d_model);
  return torch::stack({angles.sin(), angles.cos()}, 2).flatten(1).to(torch::kFloat32);
}

torch::Tensor sinusoidal_halves(std::int64_t length, std::int64_t d_model) {
  return in_halves(position_angles(length, d_model));
}

torch::Tensor fairseq_sinusoids(std::int64_t length, std::int64_t d_model) {
  constexpr std::int64_t first = 2;
  const auto half = d_model / 2;
  const torch::Tensor frequencies =
      torch::exp(torch::arange(half, torch::kFloat64) *
                 (-std::log(10000.0) / static_cast<double>(std::max<std::int64_t>(1, half - 1))));
  return in_halves(torch::arange(first, first + length, torch::kFloat64).unsqueeze(1) * frequencies);
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
  const std::int64_t exact = n / 2;  // smaller distances have one bucket each
  const torch::Tensor distance = bidirectional ? relative.abs() : (-relative).clamp_min(0);
  const double logs = std::log(t5_max_distance / static_cast<double>(exact));
  const torch::Tensor far = (distance.clamp_min(exact).to(torch::kFloat64) / static_cast<double>(exact)).log() / logs *
                            static_cast<double>(n - exact);
  // The small offset keeps ln(2^a)/ln(2^b), an exact ratio, from rounding below itself.
  const torch::Tensor bucket =
      torch::where(distance < exact, distance, (far + 1e-9).floor().to(torch::kInt64).add(exact).clamp_max(n - 1));
  return bidirectional ? bucket + relative.gt(0).to(torch::kInt64) * n : bucket;
}

torch::Tensor rope_rotations(std::int64_t length, const RotaryAngles& angles) {
  const torch::Tensor turned =
      torch::arange(length, torch::kFloat64).unsqueeze(1) * torch::tensor(angles.frequencies, torch::kFloat64);
  const torch::Tensor is_rotated = torch::tensor(angles.frequencies, torch::kFloat64).ne(0);
  const torch::Tensor magnitudes = torch::where(is_rotated, angles.magnitude, 1.0).repeat_interleave(2);
  return (torch::stack({turned.cos(), turned.sin()}, 2).flatten(1) * magnitudes).to(torch::kFloat32);
}

// ---- one function per scheme. Computed tensors are buffers: they follow the model between devices but are not
// parameters, so they are not saved in the run's folder.

namespace {

void check_room(const torch::Tensor& table, std::int64_t last) {
  if (last <= table.size(0)) return;
  throw std::out_of_range(
      fmt::format("the model has {} positions (model.max_length), but {} are needed", table.size(0), last));
}

AddedPositions computed(torch::nn::Module& owner, const std::string& name, const torch::Tensor& vectors) {
  owner.register_buffer(name, vectors);
  return [vectors](std::int64_t first, std::int64_t last) {
    check_room(vectors, last);
    return vectors.slice(0, first, last);
  };
}

AddedPositions sinusoidal(torch::nn::Module& owner, const std::string& name, const ModelConfig& config) {
  return computed(owner, name, sinusoidal_positions(config.max_length, config.embedding_width()));
}

AddedPositions by_halves(torch::nn::Module& owner, const std::string& name, const ModelConfig& config) {
  return computed(owner, name, sinusoidal_halves(config.max_length, config.embedding_width()));
}

AddedPositions as_in_fairseq(torch::nn::Module& owner, const std::string& name, const ModelConfig& config) {
  return computed(owner, name, fairseq_sinusoids(config.max_length, config.embedding_width()));
}

// Learned vectors are Xavier-initialized and added unscaled; or they have the scale of embeddings with variance 1 and
// are multiplied by √D like these (§3.4): next to such embeddings, smaller position vectors would have an effect only
// late in training.
AddedPositions learned(torch::nn::Module& owner, const std::string& name, const ModelConfig& config) {
  if (config.embedding_norm) {
    const torch::Tensor vectors =
        owner.register_parameter(name, begin_small(torch::empty({config.max_length, config.embedding_width()})));
    return [vectors](std::int64_t first, std::int64_t last) {
      check_room(vectors, last);
      return vectors.slice(0, first, last);
    };
  }
  const bool by_xavier = begins_by_xavier(config);
  const double scale = by_xavier ? 1 : std::sqrt(static_cast<double>(config.embedding_width()));
  const torch::Tensor vectors = owner.register_parameter(
      name, by_xavier ? torch::nn::init::xavier_uniform_(torch::empty({config.max_length, config.embedding_width()}))
                      : torch::randn({config.max_length, config.embedding_width()}) / scale);
  return [vectors, scale](std::int64_t first, std::int64_t last) {
    check_room(vectors, last);
    return vectors.slice(0, first, last) * scale;
  };
}

using Tell = StackPositionsImpl::Tell;

Tell shaw(torch::nn::Module&, const ModelConfig& config, bool) {
  return [farthest = config.max_distance](const torch::Tensor& queries, const torch::Tensor& keys) {
    return RelativePositions{.distances = (keys - queries).clamp(-farthest, farthest) + farthest};
  };
}

Tell t5(torch::nn::Module& owner, const ModelConfig& config, bool causal) {
  const torch::Tensor biases =
      owner.register_parameter("relative_attention_bias", torch::zeros({t5_num_buckets, config.num_heads}));
  return [biases, causal](const torch::Tensor& queries, const torch::Tensor& keys) {
    return RelativePositions{.bias = torch::embedding(biases, t5_buckets(keys - queries, !causal)).permute({2, 0, 1})};
  };
}

Tell rope(torch::nn::Module& owner, const ModelConfig& config, bool) {
  const torch::Tensor rotations =
      owner.register_buffer("rotations", rope_rotations(config.max_length, rotary_angles(config)));
  return [rotations, config](const torch::Tensor&, const torch::Tensor& keys) {
    check_room(rotations, keys.size(0));
    if (config.rope_scaling.starts_with("dynamic"))
      return RelativePositions{
          .rotations = rope_rotations(keys.size(0), rotary_angles(config, keys.size(0))).to(keys.device())};
    return RelativePositions{.rotations = rotations.slice(0, 0, keys.size(0))};
  };
}

// The decoder masks the future, so one form serves both stacks.
Tell alibi(torch::nn::Module& owner, const ModelConfig& config, bool) {
  const torch::Tensor slopes = owner.register_buffer("slopes", alibi_slopes(config.num_heads).view({-1, 1, 1}));
  return [slopes](const torch::Tensor& queries, const torch::Tensor& keys) {
    return RelativePositions{.bias = -slopes * (queries - keys).abs()};
  };
}

struct SchemeFunctions {
  std::string_view name;
  // Null: nothing is added to the embeddings.
  AddedPositions (*added)(torch::nn::Module& owner, const std::string& name, const ModelConfig& config);
  // Null: no relative positions in self-attention.
  Tell (*tell)(torch::nn::Module& owner, const ModelConfig& config, bool causal);
};

constexpr std::array schemes = {
    SchemeFunctions{"none", nullptr, nullptr},    SchemeFunctions{"sinusoidal", sinusoidal, nullptr},
    SchemeFunctions{"learned", learned, nullptr}, SchemeFunctions{"shaw", nullptr, shaw},
    SchemeFunctions{"sinusoidal-fairseq", as_in_fairseq, nullptr},
    SchemeFunctions{"t5", nullptr, t5},           SchemeFunctions{"rope", nullptr, rope},
    SchemeFunctions{"alibi", nullptr, alibi},     SchemeFunctions{"sinusoidal-halves", by_halves, nullptr},
};

const SchemeFunctions& functions_of(const ModelConfig& config) {
  const auto* const found = std::ranges::find(schemes, config.positions, &SchemeFunctions::name);
  if (found == schemes.end()) throw ConfigError("unknown positional encoding \"" + config.positions + '"');
  return *found;
}

}  // namespace

AddedPositions make_added_positions(torch::nn::Module& owner, const std::string& name, const ModelConfig& config) {
  const SchemeFunctions& functions = functions_of(config);
  return functions.added ? functions.added(owner, name, config) : AddedPositions();
}

StackPositionsImpl::StackPositionsImpl(const ModelConfig& config, bool causal) : causal_(causal) {
  const SchemeFunctions& functions = functions_of(config);
  if (functions.tell) tell_ = functions.tell(*this, config, causal);
}

RelativePositions StackPositionsImpl::relative(std::int64_t num_queries, std::int64_t num_keys,
                                               torch::Device device) const {
  if (!tell_) return {};
  const torch::Tensor keys = torch::arange(num_keys, torch::dtype(torch::kInt64).device(device));
  return tell_(keys.slice(0, num_keys - num_queries).unsqueeze(1), keys);
}

torch::Tensor StackPositionsImpl::bias_by_distance(std::int64_t length, torch::Device device) const {
  const torch::Tensor bias = relative(length, length, device).bias;  // H×L×L
  const torch::Tensor past = bias.select(1, length - 1);             // the last query covers every distance ≤ 0
  if (causal_) return past.t();
  return torch::cat({past, bias.select(1, 0).slice(1, 1)}, 1).t();  // the first query covers every distance > 0
}

}  // namespace attnscope
